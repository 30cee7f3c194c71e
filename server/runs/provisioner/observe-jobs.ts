/**
 * Compares the rows of the jobs with what the cluster lists and which workers are registered. A pure function. It
 * adopts a job of an earlier server by its name, and removes a job that is gone. A job that ended before its worker registered
 * has failed.
 */
import { type ListedJob, readReasonCode } from './adapters/adapter.ts';
import type { WorkerJob } from './store.ts';

/**
 * A job is gone when all lists of this time lack it. A list may lag behind the submission, and a scheduler that starts again may
 * answer with a part of its jobs.
 */
export const MISSING_GRACE_MS = 60_000;

const REASON_CHARACTERS_MAX = 500;

export interface Observation {
  /** The jobs that exist, with their new columns. */
  jobs: WorkerJob[];
  /** Names of the jobs that do not exist any more. */
  ended: string[];
  /** Messages on the jobs that ended before their worker registered. */
  failures: string[];
  /** The number of jobs whose worker registered for the first time. */
  registrations: number;
}

interface Facts {
  adapter: string;
  rows: readonly WorkerJob[];
  listed: readonly ListedJob[];
  /** Names of the jobs whose worker is registered and alive. */
  registered: ReadonlySet<string>;
  /** Names of the jobs whose worker has registered at some time, also if it has left since. */
  everRegistered: ReadonlySet<string>;
  now: number;
}

export function observeJobs({ adapter, rows, listed, registered, everRegistered, now }: Facts): Observation {
  const observation: Observation = { jobs: [], ended: [], failures: [], registrations: 0 };
  const byName = new Map(listed.map((job) => [job.name, job]));
  const known = new Set(rows.map(({ name }) => name));
  const adopted = listed
    .filter(({ name, state }) => !known.has(name) && state !== 'ended')
    .map(({ name, id }) => createJob(name, { adapter, id, now }));
  for (const row of [...rows, ...adopted]) {
    const hasWorker = registered.has(row.name);
    const isNew = row.worker_seen_at === null && (hasWorker || everRegistered.has(row.name));
    if (isNew) observation.registrations += 1;
    const seen: WorkerJob = hasWorker || isNew ? { ...row, worker_seen_at: now, unneeded_since: null } : row;
    const job = byName.get(row.name);
    if (job && job.state !== 'ended') {
      observation.jobs.push(updateJob(seen, job, now));
    } else if (!job && (hasWorker || now - (row.missing_since ?? now) < MISSING_GRACE_MS)) {
      observation.jobs.push({ ...seen, missing_since: row.missing_since ?? now });
    } else {
      observation.ended.push(row.name);
      const failure = describeFailure(seen, job);
      if (failure !== null) observation.failures.push(failure);
    }
  }
  return observation;
}

/** Returns the row of a job that was just requested, or found without a row. */
export function createJob(
  name: string,
  { adapter, id, now }: { adapter: string; id: string | null; now: number },
): WorkerJob {
  return {
    ...{ name, adapter, id, state: 'starting', requested_at: now, running_since: null },
    ...{ worker_seen_at: null, unneeded_since: null, stop_requested_at: null },
    ...{ pending_reason: null, blocked_since: null, missing_since: null },
  };
}

function updateJob(row: WorkerJob, { id, state, pending }: ListedJob, now: number): WorkerJob {
  if (state === 'ended') return row;
  // A job that is queued again after a fault of its node gets the whole time to register again.
  const running_since = state === 'running' ? (row.running_since ?? now) : null;
  const pending_reason = pending === null ? null : pending.text.slice(0, REASON_CHARACTERS_MAX);
  const blocked_since = pending?.isBlocked ? (row.blocked_since ?? now) : null;
  return { ...row, id, state, running_since, pending_reason, blocked_since, missing_since: null };
}

/** A pending reason that no job had before, with an example of its text. */
interface NewReason {
  reason: string;
  jobs: number;
  isBlocked: boolean;
}

/** Lists the pending reasons whose code no row had before: a message may change with every node that comes or goes. */
export function listNewReasons(before: readonly WorkerJob[], after: readonly WorkerJob[]): NewReason[] {
  const known = new Set(before.map(({ pending_reason }) => readReasonCode(pending_reason ?? '')));
  const added = new Map<string, NewReason>();
  for (const { pending_reason: reason, blocked_since } of after) {
    if (reason === null || known.has(readReasonCode(reason))) continue;
    const jobs = (added.get(readReasonCode(reason))?.jobs ?? 0) + 1;
    added.set(readReasonCode(reason), { reason, jobs, isBlocked: blocked_since !== null });
  }
  return [...added.values()];
}

/** Returns the reason why a job that has ended is a failed start; null when it is none. */
function describeFailure(row: WorkerJob, job: ListedJob | undefined): string | null {
  if (row.worker_seen_at !== null || row.stop_requested_at !== null) return null;
  if (job && job.failure === null) return null;
  // Nobody saw the end of the submission: the server was killed, or the error is stored already.
  if (!job && row.id === null) return null;
  const reason = job?.failure ?? 'the cluster no longer lists it';
  return `Job ${row.name} (${row.id}) ended before its worker registered: ${reason}. Look at the output of the job on the cluster.`;
}
