import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { ReactNode } from 'react';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './queue-page.module.css';

/** The name of a run, which leads to its page, and the application, instance and class that it belongs to. */
export function RunName({ run, children }: { run: ActiveRun; children: ReactNode }) {
  const { id, name, application_id: application, application_instance_id: instance } = run;
  return (
    <div className={styles.run}>
      <RunLink application={application} run={id} title={name || id}>
        <bdi>{name || id}</bdi>
      </RunLink>
      <span className={styles.detail} title={run.execution_class}>
        <bdi>{run.application_name}</bdi> · {instance || 'latest'} · {children}
      </span>
    </div>
  );
}
