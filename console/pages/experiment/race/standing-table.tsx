import { formatEvidence, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import { SearchLink } from '../search-link.tsx';
import type { Standing } from './list-standings.ts';

/** The standings as a table. A name opens the comparison of the configuration with the control. */
export function StandingTable({ standings }: { standings: readonly Standing[] }) {
  return (
    <TableRegion label="Standings of the race">
      <table className={table.table}>
        <TableHead
          texts={['Configuration', 'Status', 'Worse than']}
          numbers={['Inputs', 'Dropped after', 'e-value', 'Threshold']}
        />
        <tbody>
          {standings.map((one) => (
            <tr key={one.name}>
              <td>
                {one.status === 'control' ? (
                  <bdi>{one.name}</bdi>
                ) : (
                  <SearchLink changed={{ candidate: one.name }}>
                    <bdi>{one.name}</bdi>
                  </SearchLink>
                )}
              </td>
              <td>{one.status}</td>
              <td>{one.against === null ? '–' : <bdi>{one.against}</bdi>}</td>
              <td className={table.number}>{formatNumber(one.inputs)}</td>
              <td className={table.number}>
                {one.droppedAfter === null ? '–' : formatNumber(one.droppedAfter)}
              </td>
              <td className={table.number}>{one.eValue === null ? '–' : formatEvidence(one.eValue)}</td>
              <td className={table.number}>{one.threshold === null ? '–' : formatEvidence(one.threshold)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
