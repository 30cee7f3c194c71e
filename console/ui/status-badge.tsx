import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { WorkerStatus } from '@switchyard/contract/workers/workers.ts';
import styles from './status-badge.module.css';

/** The statuses of runs, experiments and workers that have a mark of their own. */
export type BadgeStatus = RunStatusV2 | WorkerStatus | 'started' | 'completed' | 'draft';

type Tone = 'waiting' | 'active' | 'good' | 'bad' | 'neutral';

const BADGES: Record<BadgeStatus, { label: string; tone: Tone }> = {
  none: { label: 'No result yet', tone: 'waiting' },
  draft: { label: 'Draft', tone: 'waiting' },
  queued: { label: 'Queued', tone: 'waiting' },
  running: { label: 'Running', tone: 'active' },
  started: { label: 'Started', tone: 'active' },
  succeeded: { label: 'Succeeded', tone: 'good' },
  completed: { label: 'Completed', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'neutral' },
  active: { label: 'Active', tone: 'good' },
  draining: { label: 'Draining', tone: 'waiting' },
  stopping: { label: 'Stopping', tone: 'neutral' },
  unresponsive: { label: 'Unresponsive', tone: 'bad' },
};

/** Each mark has a different shape, so the colour is never the only sign. */
const MARKS: Record<Tone, string> = {
  waiting: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.75V8l2.25 1.5',
  active: 'M5 3.25v9.5L12.75 8z',
  good: 'M2.75 8.5 6.5 12.25 13.25 4.5',
  bad: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  neutral: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M3.9 3.9l8.2 8.2',
};

/** A status as a mark and a word. */
export function StatusBadge({ status }: { status: BadgeStatus }) {
  const { label, tone } = BADGES[status];
  return (
    <span className={`${styles.badge} ${styles[tone]}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={MARKS[tone]} />
      </svg>
      {label}
    </span>
  );
}
