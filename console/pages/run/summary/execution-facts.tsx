import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { listFacts } from '@switchyard/contract/views/facts.ts';
import { EXECUTION_FACTS } from '@switchyard/contract/views/run-facts.ts';
import { useId } from 'react';
import styles from './summary-tab.module.css';

/** Limits, containment and use of resources. */
export function ExecutionFacts({ run }: { run: RunInformation }) {
  const headingId = useId();
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Execution</h2>
      <dl className={styles.facts}>
        {listFacts(EXECUTION_FACTS, run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
