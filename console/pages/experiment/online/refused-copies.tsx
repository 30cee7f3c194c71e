import type { RefusedRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import { Fold } from '../evidence/evidence.tsx';

/** The copies that could not be created, with the reason of each. */
export function RefusedCopies({ copies }: { copies: readonly RefusedRun[] }) {
  if (copies.length === 0) return null;
  return (
    <Fold title="Refused copies" finding={`${formatNumber(copies.length)} could not be created`} isWide>
      <TableRegion label="Copies with their reasons">
        <table className={table.table}>
          <TableHead texts={['Original', 'Reason']} />
          <tbody>
            {copies.map((copy, index) => (
              <tr key={index}>
                <td>
                  <bdi>{copy.input_id}</bdi>
                </td>
                <td className="anywhere">
                  <bdi>{copy.error}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </Fold>
  );
}
