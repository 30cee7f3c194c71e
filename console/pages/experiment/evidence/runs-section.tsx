import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { DataTable } from '../../../ui/data-table/data-table.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
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
      <DataTable
        label="Runs of the experiment"
        rows={visible}
        columns={[
          { title: 'Status', cell: ({ status_v2 }) => <StatusBadge status={status_v2} /> },
          {
            title: 'Run',
            hover: ({ name, id }) => name || id,
            cell: ({ name, id }) => (
              <RunLink application={application} run={id}>
                {name || id}
              </RunLink>
            ),
          },
          { title: 'Instance', cell: (run) => <bdi>{run.instance_id || run.version_id || '–'}</bdi> },
          { title: 'Input', cell: ({ input_id }) => <bdi>{input_id ?? '–'}</bdi> },
          {
            title: 'Option set',
            cell: (run) => <bdi>{[run.option_set, run.scenario_id].filter(Boolean).join(' · ') || '–'}</bdi>,
          },
          { title: 'Created', onPhone: 'end', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        ]}
      />
    </Fold>
  );
}
