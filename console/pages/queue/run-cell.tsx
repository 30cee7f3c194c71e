import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import styles from './queue-page.module.css';

/** The name of a run, which leads to its page, and the application and instance that it belongs to. */
export function RunCell({ run }: { run: ActiveRun }) {
  const { id, name, application_id: application, application_instance_id: instance } = run;
  return (
    <td>
      <div className={styles.run}>
        <a href={`/console/apps/${encodeURIComponent(application)}/runs/${encodeURIComponent(id)}`}>
          {name || id}
        </a>
        <span className={styles.detail}>
          {application} · {instance || 'latest'}
        </span>
      </div>
    </td>
  );
}
