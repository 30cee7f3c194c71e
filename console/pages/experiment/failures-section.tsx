import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import table from '../../ui/table.module.css';
import styles from './experiment-page.module.css';

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
  return (
    <section aria-label={title} className={styles.section}>
      <h3>{title}</h3>
      <TableRegion label="Errors of runs">
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">Error</th>
              <th scope="col" className={table.number}>
                Runs
              </th>
              <th scope="col">Example</th>
            </tr>
          </thead>
          <tbody>
            {failures.map((failure, index) => (
              <tr key={index}>
                <td>{failure.ensemble_id ?? (failure.instance_id || failure.version_id || 'latest')}</td>
                <td className={styles.error}>{failure.error}</td>
                <td className={table.number}>{failure.number_of_runs}</td>
                <td>
                  {failure.run_id === null ? (
                    'not submitted'
                  ) : (
                    <RunLink application={application} run={failure.run_id}>
                      {failure.run_id}
                    </RunLink>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
