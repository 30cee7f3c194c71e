import { Logo } from '@switchyard/design/logo.tsx';
import type { ReactNode } from 'react';
import { describeError } from '../../client/client.ts';
import { Notice } from '../../ui/notice.tsx';
import styles from './sign-in-page.module.css';

/** The frame of the pages that sign in. `error` is the refusal of the last attempt, null for none. */
export function SignInCard({ error, children }: { error: Error | null; children: ReactNode }) {
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand}>
          <Logo />
          <span>Switchyard</span>
        </div>
        <h1>Sign in</h1>
        {error && <Notice kind="error">{describeError(error)}</Notice>}
        {children}
      </div>
    </main>
  );
}
