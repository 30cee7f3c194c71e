import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
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
        <div className={styles.command}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <pre tabIndex={0}>
            <code>{command}</code>
          </pre>
          <CopyButton text={command} label="Copy the command" />
        </div>
      )}
    </div>
  );
}
