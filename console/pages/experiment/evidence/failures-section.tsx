import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import table from '../../../ui/table.module.css';
import styles from './evidence.module.css';
import { Fold } from './evidence.tsx';

interface Failure {
  instance_id: string;
  version_id: string;
  ensemble_id?: string;
  error: string;
  run_id: string | null;
  number_of_runs: number;
}

/** The distinct errors of the runs, each with a run that has it. */
export function FailuresSection({
  application,
  failures,
  title = 'Failures',
}: {
  application: string;
  failures: readonly Failure[];
  title?: string;
}) {
  if (failures.length === 0) return null;
  const runs = failures.reduce((sum, { number_of_runs }) => sum + number_of_runs, 0);
  return (
    <Fold
      title={title}
      finding={`${formatNumber(runs)} ${runs === 1 ? 'run' : 'runs'}, ${failures.length === 1 ? 'one error' : `${formatNumber(failures.length)} errors`}`}
      isWide
    >
      <TableRegion label="Errors of runs">
        <table className={table.table}>
          <TableHead texts={['Instance', 'Error', 'Example']} numbers={['Runs']} />
          <tbody>
            {failures.map((failure, index) => (
              <tr key={index}>
                <td>
                  <bdi>{failure.ensemble_id ?? (failure.instance_id || failure.version_id || 'latest')}</bdi>
                </td>
                <td className={styles.error}>
                  <bdi>{failure.error}</bdi>
                </td>
                <td>
                  {failure.run_id === null ? (
                    'not submitted'
                  ) : (
                    <RunLink application={application} run={failure.run_id}>
                      {failure.run_id}
                    </RunLink>
                  )}
                </td>
                <td className={table.number}>{formatNumber(failure.number_of_runs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </Fold>
  );
}
