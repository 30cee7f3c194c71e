import { Icon } from '@switchyard/design/icon.tsx';
import type { ReactNode } from 'react';
import styles from './notice.module.css';

const ICONS = { error: 'bad', warning: 'warning', success: 'good', info: 'question' } as const;

/** A remark in the flow of a page. An `error` is announced to screen readers. */
export function Notice({ kind, children }: { kind: keyof typeof ICONS; children: ReactNode }) {
  return (
    <div className={`${styles.notice} ${styles[kind]}`} role={kind === 'error' ? 'alert' : 'status'}>
      <Icon name={ICONS[kind]} />
      <div>{children}</div>
    </div>
  );
}
