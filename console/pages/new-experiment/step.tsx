import type { ReactNode } from 'react';
import type { MissingPart, StepName } from './list-missing.ts';
import styles from './new-experiment-page.module.css';

interface StepProps {
  name?: StepName;
  title: string;
  /** What the form still needs, first things first. */
  missing?: readonly MissingPart[];
  children: ReactNode;
}

/** A part of the form beside the rail: filled when it is complete, and in the accent where the person goes on. */
export function Step({ name, title, missing = [], children }: StepProps) {
  const isMissing = missing.some(({ step }) => step === name);
  const isHere = name !== undefined && missing[0]?.step === name;
  return (
    <section
      className={styles.step}
      aria-label={title}
      data-state={isHere ? 'here' : isMissing ? 'open' : 'done'}
    >
      <h2>{title}</h2>
      {children}
    </section>
  );
}
