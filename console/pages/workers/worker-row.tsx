import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Worker, WorkerSlots } from '@switchyard/contract/workers/workers.ts';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { LabelList } from './label-list.tsx';
import styles from './workers-page.module.css';

interface WorkerRowProps {
  worker: Worker;
  isPending: boolean;
  /** Drains the worker or ends its drain; absent when the person may not. */
  onDrain: (() => void) | undefined;
}

/** A worker with its slots and runs. */
export function WorkerRow({ worker, isPending, onDrain }: WorkerRowProps) {
  const { id, host, version, status, slots } = worker;
  const name = host || id;
  const isDraining = worker.draining_since !== null;
  return (
    <tr>
      <td>
        <div className={styles.worker}>
          {host && <span className={styles.host}>{host}</span>}
          <span className={styles.id}>
            <code>{id}</code>
            <CopyButton text={id} label={`Copy the id of ${name}`} />
          </span>
          <Offer worker={worker} />
          <span className={styles.detail}>
            Release <span>{version}</span>, started <RelativeTime at={worker.started_at} />
          </span>
        </div>
      </td>
      <td>
        <StatusBadge status={status} />
        <div className={styles.detail}>
          Heartbeat <RelativeTime at={worker.heartbeat_at} />
        </div>
      </td>
      <td>
        {slots.length === 0 ? (
          <span className={styles.detail}>None</span>
        ) : (
          <Slots name={name} slots={slots} />
        )}
      </td>
      <td>
        <WorkerRuns worker={worker} />
      </td>
      {onDrain && (
        <td className="row-action">
          <Button
            onPress={onDrain}
            isDisabled={isPending}
            aria-label={isDraining ? `End the drain of ${name}` : `Drain ${name}`}
          >
            {isDraining ? 'End drain' : 'Drain'}
          </Button>
        </td>
      )}
    </tr>
  );
}

/** The kind of a remote worker, its cores and memory, and its labels. */
function Offer({ worker: { kind, cores, memory_bytes: memory, labels } }: { worker: Worker }) {
  const facts = [
    ...(kind === 'remote' ? ['remote'] : []),
    ...(cores === null ? [] : [`${cores} ${cores === 1 ? 'core' : 'cores'}`]),
    ...(memory === null ? [] : [`${formatBytes(memory)} memory`]),
  ];
  return (
    <>
      {facts.length > 0 && <span className={styles.detail}>{facts.join(', ')}</span>}
      {labels.length > 0 && <LabelList labels={labels} />}
    </>
  );
}

function Slots({ name, slots }: { name: string; slots: readonly WorkerSlots[] }) {
  return (
    <div className={styles.slots}>
      {slots.map((pool) => {
        const classes = describeClasses(pool);
        return (
          <div key={pool.execution_classes.join()}>
            <Meter
              label={`Busy slots of ${name}, ${classes}`}
              value={pool.busy}
              max={Math.max(pool.slots, pool.busy)}
              text={`${pool.busy} of ${pool.slots}`}
            />
            <span className={styles.detail}>{classes}</span>
          </div>
        );
      })}
    </div>
  );
}

/** Returns the execution classes of the slots in words. */
function describeClasses({ execution_classes: classes }: WorkerSlots): string {
  if (classes.length === EXECUTION_CLASSES.length) return 'all classes';
  return classes.length === 1 ? classes.join() : `${classes.length} classes`;
}

function WorkerRuns({ worker: { runs, other_runs: others } }: { worker: Worker }) {
  if (runs.length === 0 && others === 0) return <span className={styles.detail}>None</span>;
  return (
    <ul className={styles.runs}>
      {runs.map((run) => (
        <li key={run.run_id}>
          <RunLink application={run.application_id} run={run.run_id}>
            {run.run_id}
          </RunLink>
          <span className={styles.detail}>
            {run.application_id} · <RelativeTime at={run.started_at} />
          </span>
        </li>
      ))}
      {others > 0 && <li className={styles.detail}>{others} of other accounts</li>}
    </ul>
  );
}
