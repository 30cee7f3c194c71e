import { Fragment, type ReactNode } from 'react';
import styles from './fact-list.module.css';

/** Names with their values, one pair a line. A fact without a value is left out. */
export function FactList({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  const visible = facts.filter(([, value]) => Boolean(value));
  return (
    <dl className={styles.facts}>
      {visible.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
