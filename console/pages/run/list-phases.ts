/** The phases of a run from its instants, for the timeline. */
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';

/** The facts of a run that its timeline shows. */
export type PhaseFacts = Pick<
  RunInformation['metadata'],
  'status_v2' | 'created_at' | 'initiated_at' | 'finished_at' | 'execution_duration' | 'run_type'
>;

export interface Phase {
  name: 'Queued' | 'Running' | 'Storing';
  /** Milliseconds. */
  duration: number;
  /** true for the phase in which the run is now. */
  isCurrent: boolean;
}

/**
 * Returns the phases until now or until the end of the run. The app runs for `execution_duration`; the rest before the end
 * stores the results. An external run has no phases, because it was executed elsewhere. `now` is in milliseconds.
 */
export function listPhases(run: PhaseFacts, now: number): Phase[] {
  if (run.run_type.type === 'external') return [];
  const hasEnded = isTerminal(run.status_v2);
  const created = Date.parse(run.created_at);
  const end = Math.max(created, run.finished_at === undefined ? now : Date.parse(run.finished_at));
  if (run.initiated_at === undefined || run.status_v2 === 'queued')
    return [{ name: 'Queued', duration: end - created, isCurrent: !hasEnded }];
  const start = Math.min(Math.max(created, Date.parse(run.initiated_at)), end);
  const queued: Phase = { name: 'Queued', duration: start - created, isCurrent: false };
  if (!hasEnded) return [queued, { name: 'Running', duration: end - start, isCurrent: true }];
  const isEnsemble = run.run_type.type === 'ensemble';
  const running = isEnsemble ? end - start : Math.min(run.execution_duration, end - start);
  const stored = end - start - running;
  return [
    queued,
    { name: 'Running', duration: running, isCurrent: false },
    ...(stored > 0 ? [{ name: 'Storing', duration: stored, isCurrent: false } as const] : []),
  ];
}
