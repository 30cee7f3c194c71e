import {
  distinguish,
  formatDuration,
  formatNumber,
  formatPercent,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { EnsembleGain, RulesResult } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { FactList } from '../../ui/facts.tsx';
import styles from './ensemble-run-page.module.css';

/** The gain of the ensemble over its best single group, with its cost, and the best of fewer runs. */
export function GainSection({ gain, usage }: { gain: EnsembleGain; usage: RulesResult['usage'] }) {
  const relative = gain.relative_improvement;
  return (
    <section aria-labelledby="gain">
      <h2 id="gain">Gain and cost</h2>
      <FactList
        facts={[
          ['Best value', `${formatValue(gain.value)} of ${gain.statistics_path.replace(/^\$\./, '')}`],
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
  const format = distinguish(
    gain.groups.flatMap(({ mean, best }) => [mean, best]).filter((one) => one !== null),
  );
  const write = (value: number | null) => (value === null ? '–' : format(value));
  return (
    <DataTable
      label="Values of each group"
      rows={gain.groups}
      keyOf={({ run_group_id }) => run_group_id}
      columns={[
        { title: 'Group', cell: ({ run_group_id }) => run_group_id },
        { title: 'Runs', kind: 'number', cell: ({ runs }) => formatNumber(runs) },
        { title: 'Failed', kind: 'number', cell: ({ failed }) => formatNumber(failed) },
        { title: 'Mean', kind: 'number', cell: ({ mean }) => write(mean) },
        { title: 'Best', kind: 'number', cell: ({ best }) => write(best) },
      ]}
    />
  );
}

function BestOfTable({ gain }: { gain: EnsembleGain }) {
  const format = distinguish(gain.best_of_k.map(({ expected }) => expected));
  return (
    <details>
      <summary>The best of fewer runs</summary>
      <DataTable
        label="Expected best value of fewer runs"
        rows={gain.best_of_k}
        keyOf={({ k }) => String(k)}
        columns={[
          { title: 'Runs', kind: 'number', cell: ({ k }) => k },
          { title: 'Expected best value', kind: 'number', cell: ({ expected }) => format(expected) },
          {
            title: 'Choices with a success',
            kind: 'number',
            cell: ({ solved_share }) => formatPercent(solved_share),
          },
        ]}
      />
    </details>
  );
}
