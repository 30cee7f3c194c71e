import type { ReactNode } from 'react';
import styles from './page-header.module.css';

/** The heading of a page, with its actions at the right. */
export function PageHeader({
  title,
  description,
  actions,
}: {
  title: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <h1>{title}</h1>
        {description && <p>{description}</p>}
      </div>
      {actions && (
        <div className={styles.actions} data-page-only="">
          {actions}
        </div>
      )}
    </header>
  );
}
