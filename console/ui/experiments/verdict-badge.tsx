import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import styles from './verdict-badge.module.css';

/** How a verdict is coloured: good and bad for the candidate, changed without a direction, equal, or not decided. */
export type VerdictTone = 'good' | 'bad' | 'changed' | 'equal' | 'open';

const TONES: Readonly<Record<string, VerdictTone>> = {
  better: 'good',
  best: 'good',
  worse: 'bad',
  'none better': 'bad',
  higher: 'changed',
  lower: 'changed',
  equivalent: 'equal',
  same: 'equal',
  undecided: 'open',
  passed: 'good',
  'not passed': 'bad',
  accepted: 'good',
  'not accepted': 'bad',
  found: 'good',
  'not distinguishable': 'equal',
};

/** Returns the tone of a verdict of the API, written with spaces. */
export function findTone(verdict: string): VerdictTone {
  return TONES[verdict] ?? 'open';
}

const ICONS: Record<Exclude<VerdictTone, 'changed'>, IconName> = {
  good: 'good',
  bad: 'bad',
  equal: 'equal',
  open: 'waiting',
};

/** A verdict as an icon and a word. */
export function VerdictBadge({ verdict }: { verdict: string }) {
  const word = verdict.replaceAll('_', ' ');
  const tone = findTone(word);
  return (
    <span className={`${styles.badge} ${styles[tone]}`}>
      {tone === 'changed' ? (
        <span aria-hidden="true">{word === 'lower' ? '▼' : '▲'}</span>
      ) : (
        <Icon name={ICONS[tone]} />
      )}
      {word}
    </span>
  );
}
