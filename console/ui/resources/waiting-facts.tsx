import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { ReactNode } from 'react';
import { RunLink } from '../run-link.tsx';
import styles from './waiting-facts.module.css';

interface Holder {
  run_id: string;
  application_id: string;
}

/** The labels, licence tokens and slots that a waiting run lacks, with links to the runs that have them. */
export function WaitingFacts({ waiting }: { waiting: Waiting }) {
  const { required_labels: labels = [], licenses = [], slot_holders: slots = [] } = waiting;
  if (labels.length + licenses.length + slots.length === 0) return null;
  return (
    <dl className={styles.facts}>
      {labels.length > 0 && (
        <Fact title="Required labels">
          {labels.map((label) => (
            <code key={label}>{label}</code>
          ))}
        </Fact>
      )}
      {licenses.map(({ name, required, total, used, holders }) => (
        <Fact key={name} title={`Licence ${name}`}>
          <span>
            requires {required}, {used} of {total} in use
          </span>
          <Holders runs={holders} />
        </Fact>
      ))}
      {slots.length > 0 && (
        <Fact title="Runs in the slots">
          <Holders runs={slots} />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Holders({ runs }: { runs: readonly Holder[] }) {
  return runs.map(({ run_id, application_id }) => (
    <RunLink key={run_id} application={application_id} run={run_id}>
      {run_id}
    </RunLink>
  ));
}
