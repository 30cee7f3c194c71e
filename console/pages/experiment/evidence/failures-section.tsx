import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { DataTable } from '../../../ui/data-table/data-table.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { Fold } from './evidence.tsx';

interface Failure {
  instance_id: string;
  version_id: string;
  ensemble_id?: string;
  error: string;
  run_id: string | null;
  number_of_runs: number;
}

interface FailuresSectionProps {
  application: string;
  failures: readonly Failure[];
  title?: string;
}

/** The distinct errors of the runs, each with a run that has it. */
export function FailuresSection({ application, failures, title = 'Failures' }: FailuresSectionProps) {
  if (failures.length === 0) return null;
  const runs = failures.reduce((sum, { number_of_runs }) => sum + number_of_runs, 0);
  return (
    <Fold
      title={title}
      finding={`${formatNumber(runs)} ${runs === 1 ? 'run' : 'runs'}, ${failures.length === 1 ? 'one error' : `${formatNumber(failures.length)} errors`}`}
      isWide
    >
      <DataTable
        label="Errors of runs"
        rows={failures.map((failure, index) => ({ ...failure, id: String(index) }))}
        columns={[
          {
            title: 'Instance',
            cell: (failure) => (
              <bdi>{failure.ensemble_id ?? (failure.instance_id || failure.version_id || 'latest')}</bdi>
            ),
          },
          {
            title: 'Error',
            wraps: true,
            hover: ({ error }) => error,
            cell: ({ error }) => <bdi>{error}</bdi>,
          },
          {
            title: 'Example',
            cell: ({ run_id: run }) =>
              run === null ? (
                'not submitted'
              ) : (
                <RunLink application={application} run={run}>
                  {run}
                </RunLink>
              ),
          },
          { title: 'Runs', kind: 'number', cell: (failure) => formatNumber(failure.number_of_runs) },
        ]}
      />
    </Fold>
  );
}
