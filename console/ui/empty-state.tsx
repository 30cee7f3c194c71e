import type { ReactNode } from 'react';
import styles from './empty-state.module.css';

/** Says why a list is empty and what to do next, with the same action for a terminal. */
export function EmptyState({
  title,
  children,
  command,
}: {
  title: string;
  children?: ReactNode;
  command?: string;
}) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
      {command !== undefined && (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </div>
  );
}
