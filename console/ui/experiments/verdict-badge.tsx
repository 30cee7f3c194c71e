import styles from './verdict-badge.module.css';

/** How a verdict is coloured: good and bad for the candidate, changed without a direction, equal, or not decided. */
export type VerdictTone = 'good' | 'bad' | 'changed' | 'equal' | 'open';

const TONES: Readonly<Record<string, VerdictTone>> = {
  better: 'good',
  worse: 'bad',
  higher: 'changed',
  lower: 'changed',
  equivalent: 'equal',
  same: 'equal',
  undecided: 'open',
  passed: 'good',
  'not passed': 'bad',
  release: 'good',
  'do not release': 'bad',
  found: 'good',
  narrowed: 'changed',
  'not distinguishable': 'equal',
};

/** Returns the tone of a verdict of the API, written with spaces. */
export function findTone(verdict: string): VerdictTone {
  return TONES[verdict] ?? 'open';
}

/** A verdict as a word with a mark. */
export function VerdictBadge({ verdict }: { verdict: string }) {
  const word = verdict.replaceAll('_', ' ');
  return <span className={`${styles.badge} ${styles[findTone(word)]}`}>{word}</span>;
}
