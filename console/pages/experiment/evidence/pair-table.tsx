import { type Effect, formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { Link } from '@tanstack/react-router';
import { SideCells } from '../../../ui/resources/side-cells.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';

const ROWS_MAX = 200;

interface PairTableProps {
  application: string;
  pairs: readonly InputPair[];
  effect: Effect;
  unit: string;
  /** Names the table; a page has several. */
  label: string;
}

/** The pairs as a table; each row opens the comparison of its two runs. */
export function PairTable({ application, pairs, effect, unit, label }: PairTableProps) {
  return (
    <>
      <TableRegion label={label}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">{unit === 'input' ? 'Input' : 'Original'}</th>
              <th scope="col" className={table.number}>
                Control
              </th>
              <th scope="col" className={table.number}>
                Candidate
              </th>
              <th scope="col" className={table.number}>
                Change
              </th>
              <th scope="col">Runs</th>
            </tr>
          </thead>
          <tbody>
            {pairs.slice(0, ROWS_MAX).map((pair) => (
              <tr key={pair.input}>
                <td>
                  <bdi>{pair.input}</bdi>
                </td>
                <SideCells values={[pair.control, pair.candidate]} />
                <td className={table.number}>
                  {pair.change === null
                    ? pair.failed === null
                      ? '–'
                      : `only the ${pair.failed} failed`
                    : formatChange(effect.measure, pair.change)}
                </td>
                <td>
                  <Link
                    to="/apps/$application/compare"
                    params={{ application }}
                    search={{ runs: `${pair.runs.control},${pair.runs.candidate}` }}
                    aria-label={`Compare the runs on ${pair.input}`}
                  >
                    Compare
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
      {pairs.length > ROWS_MAX && (
        <p>
          The first {ROWS_MAX} of {pairs.length} rows. The CSV file has all of them.
        </p>
      )}
    </>
  );
}
