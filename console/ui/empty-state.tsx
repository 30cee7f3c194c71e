import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import styles from './empty-state.module.css';

interface EmptyStateProps {
  title: string;
  /** What the list is for, and what to do next. */
  children?: ReactNode;
  /** The one action of the page. */
  action?: ReactNode;
  /** The same action for a terminal. */
  command?: string;
  /** The same action by the API, if the command does not call it. */
  request?: string;
}

/** Says why a list is empty and what to do next, with the same action for a terminal and for the API. */
export function EmptyState({ title, children, action, command, request }: EmptyStateProps) {
  const ways = [command, request].filter((way) => way !== undefined);
  return (
    <div className={`${styles.middle} ${styles.empty}`}>
      <svg width="160" height="48" viewBox="0 0 160 48" aria-hidden="true">
        <path className={styles.rail} d="M4 38H156M4 10H156" />
        <path className={styles.switch} d="M24 38c56 0 56-28 112-28" />
        <circle className={styles.ring} cx="14" cy="38" r="5" />
      </svg>
      <h2>{title}</h2>
      {children}
      {action}
      {ways.length > 0 && (
        <div className={styles.ways}>
          {ways.map((way) => (
            <Way key={way} text={way} />
          ))}
        </div>
      )}
    </div>
  );
}

function Way({ text }: { text: string }) {
  const isRequest = text.startsWith('curl');
  return (
    <div className={styles.way}>
      <strong>{isRequest ? 'API' : 'Command line'}</strong>
      <CopyButton text={text} label={isRequest ? 'Copy the request' : 'Copy the command'} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
