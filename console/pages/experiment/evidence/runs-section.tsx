import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import table from '../../../ui/table.module.css';
import styles from './evidence.module.css';
import { Fold } from './evidence.tsx';

const ROWS_MAX = 100;

interface RunsSectionProps {
  application: string;
  runs: readonly ExperimentRun[];
  /** All runs of the experiment, of which `runs` may be the newest. */
  total: number;
  /** What they are, such as `12 originals and 12 copies`; the default is that number of runs. */
  parts?: string;
}

/** The newest runs of the experiment. */
export function RunsSection({
  application,
  runs,
  total,
  parts = `${formatNumber(total)} runs`,
}: RunsSectionProps) {
  if (runs.length === 0) return null;
  const visible = runs.slice(0, ROWS_MAX);
  return (
    <Fold
      title="Runs"
      finding={
        visible.length < total ? `The newest ${formatNumber(visible.length)} of ${parts}` : `All ${parts}`
      }
      isWide
    >
      <TableRegion label="Runs of the experiment">
        <table className={table.table}>
          <TableHead texts={['Status', 'Run', 'Instance', 'Input', 'Option set', 'Created']} />
          <tbody>
            {visible.map((run) => (
              <tr key={run.id}>
                <td>
                  <StatusBadge status={run.status_v2} />
                </td>
                <td className={styles.error}>
                  <RunLink application={application} run={run.id}>
                    {run.name || run.id}
                  </RunLink>
                </td>
                <td>
                  <bdi>{run.instance_id || run.version_id || '–'}</bdi>
                </td>
                <td>
                  <bdi>{run.input_id ?? '–'}</bdi>
                </td>
                <td>
                  <bdi>{[run.option_set, run.scenario_id].filter(Boolean).join(' · ') || '–'}</bdi>
                </td>
                <td>
                  <RelativeTime at={run.created_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </Fold>
  );
}
