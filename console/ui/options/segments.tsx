import type { ReactNode } from 'react';
import styles from './segments.module.css';

interface SegmentsProps<Value> {
  /** Name of the group for screen readers. */
  label: string;
  options: readonly (readonly [value: Value, name: ReactNode])[];
  chosen: Value | undefined;
  onChoose: (value: Value) => void;
}

/** A few ways to show the same thing, as buttons of which one is pressed. */
export function Segments<Value>({ label, options, chosen, onChoose }: SegmentsProps<Value>) {
  return (
    <fieldset className={styles.segments} aria-label={label}>
      {options.map(([value, name], index) => (
        <button key={index} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
