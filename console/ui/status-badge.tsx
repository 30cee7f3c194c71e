import type { ConversationStatus, ExperimentStatus, RunStatusV2 } from '@switchyard/contract/states.ts';
import type { WorkerStatus } from '@switchyard/contract/workers/workers.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import styles from './status-badge.module.css';

/** The statuses of runs, experiments, workers and deliveries that have a mark of their own. */
export type BadgeStatus = RunStatusV2 | WorkerStatus | ConversationStatus | ExperimentStatus;

type Tone = 'waiting' | 'active' | 'good' | 'bad' | 'neutral';

const BADGES: Record<BadgeStatus, { label: string; tone: Tone }> = {
  none: { label: 'No result yet', tone: 'waiting' },
  draft: { label: 'Draft', tone: 'waiting' },
  queued: { label: 'Queued', tone: 'waiting' },
  running: { label: 'Running', tone: 'active' },
  started: { label: 'Started', tone: 'active' },
  succeeded: { label: 'Succeeded', tone: 'good' },
  completed: { label: 'Ended', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'bad' },
  timed_out: { label: 'Timed out', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'neutral' },
  active: { label: 'Active', tone: 'good' },
  draining: { label: 'Draining', tone: 'waiting' },
  stopping: { label: 'Stopping', tone: 'neutral' },
  unresponsive: { label: 'Unresponsive', tone: 'bad' },
};

/** Each icon has a different shape, so the colour is never the only sign. A running status turns instead. */
const ICONS = { waiting: 'waiting', good: 'good', bad: 'bad', neutral: 'stopped' } as const;

/** A status as an icon and a word. A bare one says its word to screen readers and on hover only. */
export function StatusBadge({ status, isBare = false }: { status: BadgeStatus; isBare?: boolean }) {
  const { label, tone } = BADGES[status];
  return (
    <span className={`${styles.badge} ${styles[tone]}`} {...(isBare && { title: label })}>
      {tone === 'active' ? <i className={styles.live} /> : <Icon name={ICONS[tone]} />}
      <span className={isBare ? 'visually-hidden' : undefined}>{label}</span>
    </span>
  );
}
