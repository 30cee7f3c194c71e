import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { formatExact } from '../../ui/format-exact.ts';
import { useNow } from '../../ui/relative-time.tsx';
import { findTimeLimit } from '../../ui/resources/class-limits.ts';
import type { Lane, LaneGroup } from './list-lanes.ts';
import styles from './queue-page.module.css';
import { RunName } from './run-name.tsx';

const TICK_MS = 1_000;
/** More free slots than these are one lane. */
const FREE_LANES_MAX = 4;

/** Cancels a run of the queue; absent when the role of the person may not cancel. */
export type OnCancel = ((run: ActiveRun) => void) | undefined;

/** One lane for each slot of the workers, with the run in it and its duration so far. */
export function Lanes({ groups, onCancel }: { groups: readonly LaneGroup[]; onCancel: OnCancel }) {
  const heading = useId();
  const now = useNow(TICK_MS);
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Running</h2>
      {groups.length === 0 && <p>No worker has a slot, so no run starts.</p>}
      {groups.map(({ id, title, lanes }) => {
        const free = lanes.filter(({ kind }) => kind === 'free').length;
        const isShort = free <= FREE_LANES_MAX;
        return (
          <div key={id} className={styles.worker}>
            <h3>{title}</h3>
            <ul className={styles.lanes} aria-label={title}>
              {lanes
                .filter(({ kind }) => isShort || kind !== 'free')
                .map((lane, index) => (
                  <li key={lane.kind === 'run' ? lane.run.id : index}>
                    <LaneContent lane={lane} now={now} onCancel={onCancel} />
                  </li>
                ))}
              {!isShort && <li className={styles.idle}>{free} free slots</li>}
            </ul>
          </div>
        );
      })}
    </section>
  );
}

function LaneContent({ lane, now, onCancel }: { lane: Lane; now: number; onCancel: OnCancel }) {
  if (lane.kind !== 'run')
    return <div className={styles.idle}>{lane.kind === 'free' ? 'Free' : 'A run of another account'}</div>;
  const { run } = lane;
  return (
    <>
      <div className={styles.lane}>
        <RunName run={run}>
          {run.user_email}
          {run.attempt > 1 && `, attempt ${run.attempt}`}
        </RunName>
        {onCancel && (
          <Button kind="quiet" onPress={() => onCancel(run)} aria-label={`Cancel ${run.name || run.id}`}>
            Cancel
          </Button>
        )}
      </div>
      <Elapsed run={run} now={now} />
    </>
  );
}

/** The run time as a share of the time after which the run is ended. */
function Elapsed({ run, now }: { run: ActiveRun; now: number }) {
  const since = run.initiated_at ?? run.created_at;
  const start = Date.parse(since);
  const elapsed = Math.max(0, now - start);
  const limit = findTimeLimit(run);
  return (
    <time dateTime={since} title={formatExact(start)}>
      <Meter
        label={`Run time of ${run.name || run.id} within its time limit`}
        value={elapsed}
        max={limit?.ms ?? elapsed}
        text={[formatDuration(elapsed), limit?.text].filter(Boolean).join(', ')}
      />
    </time>
  );
}
