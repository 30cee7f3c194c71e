import type { ReactNode } from 'react';
import styles from './notice.module.css';

/** A remark in the flow of a page. An `error` is announced to screen readers. */
export function Notice({
  kind,
  children,
}: {
  kind: 'error' | 'warning' | 'success' | 'info';
  children: ReactNode;
}) {
  return (
    <div className={`${styles.notice} ${styles[kind]}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
