import {
  distinguish,
  formatDuration,
  formatNumber,
  formatPercent,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { EnsembleGain, RulesResult } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { FactList } from '../../ui/facts.tsx';
import { SideCells } from '../../ui/resources/side-cells.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import styles from './ensemble-run-page.module.css';

/** The gain of the ensemble over its best single group, with its cost, and the best of fewer runs. */
export function GainSection({ gain, usage }: { gain: EnsembleGain; usage: RulesResult['usage'] }) {
  const relative = gain.relative_improvement;
  return (
    <section aria-labelledby="gain">
      <h2 id="gain">Gain and cost</h2>
      <FactList
        facts={[
          ['Best value', `${formatNumber(gain.value)} of ${gain.statistics_path.replace(/^\$\./, '')}`],
          [
            'Gain',
            `${formatSigned(gain.improvement, formatValue)}${relative === null ? '' : ` (${formatSigned(relative, formatPercent)})`} over a run of ${gain.best_group.run_group_id} on average`,
          ],
          ['Elapsed time', usage && formatDuration(usage.wall_seconds * 1000)],
          ['Run time of all apps', usage && formatDuration(usage.total_seconds * 1000)],
        ]}
      />
      <div className={styles.tables}>
        <GroupTable gain={gain} />
        <BestOfTable gain={gain} />
      </div>
    </section>
  );
}

function GroupTable({ gain }: { gain: EnsembleGain }) {
  return (
    <TableRegion label="Table: Values of each group">
      <table className={table.table} aria-label="Values of each group">
        <TableHead texts={['Group']} numbers={['Runs', 'Failed', 'Mean', 'Best']} />
        <tbody>
          {gain.groups.map(({ run_group_id, runs, failed, mean, best }) => (
            <tr key={run_group_id}>
              <td>{run_group_id}</td>
              {[runs, failed].map((value, column) => (
                <td key={column} className={table.number}>
                  {formatNumber(value)}
                </td>
              ))}
              <SideCells values={[mean, best]} />
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

function BestOfTable({ gain }: { gain: EnsembleGain }) {
  const format = distinguish(gain.best_of_k.map(({ expected }) => expected));
  return (
    <details>
      <summary>The best of fewer runs</summary>
      <TableRegion label="Table: Expected best value of fewer runs">
        <table className={table.table} aria-label="Expected best value of fewer runs">
          <TableHead numbers={['Runs', 'Expected best value', 'Choices with a success']} />
          <tbody>
            {gain.best_of_k.map(({ k, expected, solved_share }) => (
              <tr key={k}>
                <td className={table.number}>{k}</td>
                <td className={table.number}>{format(expected)}</td>
                <td className={table.number}>{formatPercent(solved_share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </details>
  );
}
