import type { ReactNode } from 'react';
import styles from './facts.module.css';

export type Facts = readonly (readonly [name: string, value: ReactNode])[];

/**
 * Names with their values. A fact without a value is left out. A narrow column has `rows`, with the value at the end of the
 * line. A whole page has `columns`, with each name above its value.
 */
export function FactList({ facts, layout = 'list' }: { facts: Facts; layout?: 'list' | 'rows' | 'columns' }) {
  return (
    <dl className={styles[layout]}>
      {facts
        .filter(([, value]) => Boolean(value))
        .map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
    </dl>
  );
}
