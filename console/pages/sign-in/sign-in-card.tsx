import { ApiError } from '@switchyard/contract/client.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { Logo } from '@switchyard/design/logo.tsx';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { describeError } from '../../client/client.ts';
import { operationQuery } from '../../client/queries.ts';
import { ThemeButton } from '../../layout/theme-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import styles from './sign-in-page.module.css';

/** The frame of the pages that sign in. `error` is the refusal of the last attempt, null for none. */
export function SignInCard({ error = null, children }: { error?: Error | null; children: ReactNode }) {
  return (
    <div className={styles.page}>
      <div className={styles.left}>
        <header className={styles.head}>
          <Logo />
          <span>Switchyard</span>
          <ThemeButton />
        </header>
        <main className={styles.card}>
          <div>
            <h1>Sign in</h1>
            <p className="soft">
              to <bdi>{location.host}</bdi>
            </p>
          </div>
          {error && (
            <Notice kind="error">{error instanceof ApiError ? error.reason : describeError(error)}</Notice>
          )}
          {children}
        </main>
        <footer className={styles.foot}>
          <ServerState />
          <a href="/docs">Documentation</a>
        </footer>
      </div>
      <Yard />
    </div>
  );
}

/** Whether the server is ready, before anybody is signed in. */
function ServerState() {
  const { data, error } = useQuery(operationQuery('getReadiness'));
  if (!data && !error) return null;
  return (
    <span className="line">
      <span className={data ? 'good' : 'bad'}>
        <Icon name={data ? 'good' : 'bad'} />
      </span>
      {data ? `Server answers, version ${data.version}` : `Server is not ready: ${describeError(error)}`}
    </span>
  );
}

/** The switches between the rails of the yard, each a step of 150 to the right and 80 up. */
const SWITCHES = [
  [60, 256],
  [300, 176],
  [90, 496],
  [500, 336],
  [560, 576],
  [180, 736],
  [420, 816],
  [610, 736],
  [330, 416],
] as const;
const RAILS = [96, 176, 256, 336, 416, 496, 576, 656, 736, 816];

/** A yard of rails with one way through it. */
function Yard() {
  return (
    <div className={styles.yard} aria-hidden="true">
      <svg viewBox="0 0 780 900" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        <path
          className={styles.rails}
          d={[
            ...RAILS.map((y) => `M-10 ${y}H800`),
            ...SWITCHES.map(([x, y]) => `M${x} ${y}c75 0 75-80 150-80`),
          ].join('')}
        />
        <path
          className={styles.way}
          d="M-10 656H110c76 0 76-80 152-80S338 496 414 496H450c76 0 76-80 152-80h48"
        />
        <circle className={styles.end} cx="662" cy="416" r="14" />
      </svg>
      <p>Lose no run.</p>
    </div>
  );
}
