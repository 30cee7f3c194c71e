import type { Change } from '@switchyard/contract/presentation/format-change.ts';
import styles from './change-text.module.css';

const CLASSES = { better: 'good', worse: 'bad' } as const;

/** A change such as `▼ −2.9 %`: coloured and named where it is known if less is better. `title` has all digits. */
export function ChangeText({ change: { text, outcome }, title }: { change: Change; title?: string }) {
  return (
    <span className={`${styles.change} ${outcome ? CLASSES[outcome] : ''}`} title={title}>
      {text}
      {outcome && <span className="visually-hidden"> {outcome}</span>}
    </span>
  );
}
