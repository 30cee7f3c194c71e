import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './queue-page.module.css';

/** The name of a run, which leads to its page, and the application and instance that it belongs to. */
export function RunCell({ run }: { run: ActiveRun }) {
  const { id, name, application_id: application, application_instance_id: instance } = run;
  return (
    <td>
      <div className={styles.run}>
        <RunLink application={application} run={id}>
          {name || id}
        </RunLink>
        <span className={styles.detail}>
          {application} · {instance || 'latest'}
        </span>
      </div>
    </td>
  );
}
