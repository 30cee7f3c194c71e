import type { ReactNode } from 'react';
import { useIsLost } from '../client/connection.ts';
import { MoreMenu } from './menu.tsx';
import styles from './page-header.module.css';

interface PageHeaderProps {
  title: ReactNode;
  /** The status beside the title. */
  badge?: ReactNode;
  /** A line of facts below the title, or a sentence. */
  description?: ReactNode;
  /** The one filled action. */
  actions?: ReactNode;
  /** At most two quiet actions. A phone shows them in the menu. */
  quiet?: ReactNode;
  /** All other actions. */
  menu?: ReactNode;
}

/** The head of a page: what it is about, and what can be done with it. */
export function PageHeader({ title, badge, description, actions, quiet, menu }: PageHeaderProps) {
  const isLost = useIsLost();
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <h1>{title}</h1> {badge}
        {description && <div className={styles.description}>{description}</div>}
      </div>
      {(actions || quiet || menu) && (
        <div className={styles.actions} data-page-only="" inert={isLost}>
          {quiet && <div className={styles.quiet}>{quiet}</div>}
          {actions}
          <div className={menu ? undefined : styles.narrow}>
            {(menu || quiet) && (
              <MoreMenu>
                {quiet && <div className={styles.folded}>{quiet}</div>}
                {menu}
              </MoreMenu>
            )}
          </div>
        </div>
      )}
    </header>
  );
}
