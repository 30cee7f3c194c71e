/** The phases of a run from its attempts, for its timeline, and what it ran and waited. */
import { isTerminal } from '../../states.ts';
import type { RunInformation } from '../run-schemas.ts';

/** The facts of a run that its timeline shows. */
export type PhaseFacts = Pick<
  RunInformation['metadata'],
  | 'status_v2'
  | 'created_at'
  | 'initiated_at'
  | 'finished_at'
  | 'execution_duration'
  | 'lost_attempts'
  | 'run_type'
> &
  Partial<Pick<RunInformation['metadata'], 'output_size'>>;

export interface Phase {
  kind: 'waiting' | 'lost' | 'running' | 'storing';
  /** Such as `Waited` and `Attempt 1, lost`. */
  name: string;
  /** Milliseconds. */
  duration: number;
  /** true for the phase in which the run is now. */
  isCurrent: boolean;
}

/**
 * Returns the phases until now or until the end of the run. Each lost attempt is a phase between two waits. The app of the
 * last attempt runs for `execution_duration`; the rest before the end stores the results. An external run has no phases,
 * because it was executed elsewhere. `now` is in milliseconds.
 */
export function listPhases(run: PhaseFacts, now: number): Phase[] {
  if (run.run_type.type === 'external') return [];
  const hasEnded = isTerminal(run.status_v2);
  const created = Date.parse(run.created_at);
  const end = Math.max(created, run.finished_at === undefined ? now : Date.parse(run.finished_at));
  const limit = (at: number, from: number): number => Math.min(Math.max(at, from), end);
  const phases: Phase[] = [];
  let at = created;
  const wait = (until: number): void => {
    phases.push({ kind: 'waiting', name: 'Waited', duration: until - at, isCurrent: false });
    at = until;
  };
  for (const [index, lost] of (run.lost_attempts ?? []).entries()) {
    wait(limit(Date.parse(lost.initiated_at), at));
    const until = limit(Date.parse(lost.finished_at), at);
    phases.push({
      kind: 'lost',
      name: `Attempt ${index + 1}, lost`,
      duration: until - at,
      isCurrent: false,
    });
    at = until;
  }
  const isLost = hasEnded && run.lost_attempts?.at(-1)?.initiated_at === run.initiated_at;
  if (isLost && run.initiated_at !== undefined) return phases;
  if (run.initiated_at === undefined || run.status_v2 === 'queued') {
    const name = hasEnded ? 'Waited' : 'Waiting';
    return [...phases, { kind: 'waiting', name, duration: end - at, isCurrent: !hasEnded }];
  }
  wait(limit(Date.parse(run.initiated_at), at));
  return [...phases, ...listLastAttempt(run, end - at, hasEnded)];
}

/** Returns the phases of the last attempt, which began `duration` milliseconds before the end. */
function listLastAttempt(run: PhaseFacts, duration: number, hasEnded: boolean): Phase[] {
  if (!hasEnded) return [{ kind: 'running', name: 'Running', duration, isCurrent: true }];
  const isEnsemble = run.run_type.type === 'ensemble';
  const running = isEnsemble ? duration : Math.min(run.execution_duration, duration);
  const stored = duration - running;
  const name = run.output_size === 0 ? 'Stored the log' : 'Stored results';
  return [
    { kind: 'running', name: 'Ran', duration: running, isCurrent: false },
    ...(stored > 0 ? [{ kind: 'storing', name, duration: stored, isCurrent: false } as const] : []),
  ];
}

/** The times of a run, in milliseconds; null for a run that was executed elsewhere or has not begun. */
interface RunTimes {
  /** The time of the app in the attempt that counts. */
  ran: number | null;
  /** The time in the queue, of all attempts. */
  waited: number | null;
}

/** Returns what the run has run and waited until now or until its end. Lost attempts are neither. */
export function measureTimes(run: PhaseFacts, now: number): RunTimes {
  if (run.run_type.type === 'external') return { ran: run.execution_duration, waited: null };
  const phases = listPhases(run, now);
  const waits = phases.filter(({ kind }) => kind === 'waiting');
  return {
    ran: phases.find(({ kind }) => kind === 'running')?.duration ?? null,
    waited: waits.reduce((sum, { duration }) => sum + duration, 0),
  };
}
