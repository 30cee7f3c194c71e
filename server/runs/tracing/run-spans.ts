/**
 * The spans of a run. They are recorded when an attempt has ended, from the times of its row and of its app, which works
 * for every worker, however far away.
 */
import type { EndedRun, Outcome } from '@switchyard/runner';
import type { Database } from '../../platform/database/database.ts';
import type { SpanAttributes, Tracing } from '../../platform/tracing/tracing.ts';
import type { RunKey } from '../store/run-events.ts';
import { findRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { findRunTrace, type RunPhase, type RunTrace } from './run-trace.ts';

/** An attempt of a run that has ended. */
interface EndedAttempt {
  /** As it was claimed: `initiated_at` is the time of the claim. */
  run: RunsTable;
  /** When its worker had the run and began to prepare it; undefined where only the app's start is known. */
  claimedAt?: number | undefined;
  /** `dead`: its worker died, so nobody knows how far the attempt came. */
  end: Outcome | { kind: 'unstarted' } | { kind: 'dead' };
  /** The status of the run afterwards. */
  status: RunsTable['status'];
  /** When that status was stored. */
  storedAt: number;
}

/** Records the phases of an attempt and, unless the run is queued again, the span of the run. */
export function recordAttempt(tracing: Tracing | null, attempt: EndedAttempt): void {
  if (tracing === null) return;
  const { run, status, end, storedAt } = attempt;
  const trace = findRunTrace(run, tracing);
  const attributes = describeAttempt(run);
  for (const phase of listPhases(attempt))
    recordPhase(tracing, trace, phase, { ...attributes, ...describePhase(phase.name, end, run) });
  if (status !== 'queued') recordRun(tracing, trace, run, { status, endedAt: storedAt });
}

function recordPhase(
  tracing: Tracing,
  trace: RunTrace,
  { name, ...times }: PhaseTimes,
  attributes: SpanAttributes,
): void {
  tracing.record({
    ...{ name, kind: 'internal', context: trace.phase(name), parent: trace.run },
    ...{ ...times, attributes },
  });
}

/** Records the span of a run, from its creation to its end. */
function recordRun(
  tracing: Tracing,
  trace: RunTrace,
  run: RunsTable,
  { status, endedAt }: { status: RunsTable['status']; endedAt: number },
): void {
  tracing.record({
    ...{ name: 'run', kind: 'internal', context: trace.run, parent: trace.parent },
    ...{ startedAt: run.created_at, endedAt, isError: status === 'failed' },
    attributes: {
      ...describeAttempt(run),
      'switchyard.run.status': status,
      'switchyard.run.type': run.run_type,
      'switchyard.account.id': run.account_id,
      'switchyard.instance.id': run.instance_id,
      'switchyard.version.id': run.version_id,
      'switchyard.execution_class': run.execution_class,
    },
  });
}

interface TracingParts {
  tracing: Tracing | null;
  database: Pick<Database, 'read'>;
}

/** Reads the run of a lease, to record its attempt once the lease has ended; null when nobody traces it. Never throws. */
export async function readTracedRun(
  { tracing, database }: TracingParts,
  { application_uid, id, fence }: RunKey & Pick<RunsTable, 'fence'>,
): Promise<RunsTable | null> {
  if (tracing === null) return null;
  const run = await findRun(database.read, application_uid, id).catch(() => undefined);
  return run?.fence === fence ? run : null;
}

/**
 * Records the span of a run that ended without an attempt: it was canceled in the queue, or its child runs
 * have ended. Reads its row. Never throws.
 */
export async function recordEndedRun({ tracing, database }: TracingParts, key: RunKey): Promise<void> {
  if (tracing === null) return;
  const run = await findRun(database.read, key.application_uid, key.id).catch(() => undefined);
  if (run?.finished_at == null) return;
  const { status, finished_at: endedAt } = run;
  const trace = findRunTrace(run, tracing);
  if (run.run_type === 'standard' && run.initiated_at === null) {
    const queued = { name: 'queued', startedAt: findQueuedTime(run), endedAt, isError: false } as const;
    recordPhase(tracing, trace, queued, describeAttempt(run));
  }
  recordRun(tracing, trace, run, { status, endedAt });
}

/** Ids and numbers alone: names, options and errors of a run can repeat its input. */
function describeAttempt({ id, application_id, attempt }: RunsTable): SpanAttributes {
  return {
    'switchyard.run.id': id,
    'switchyard.application.id': application_id,
    'switchyard.run.attempt': attempt,
  };
}

function describePhase(name: RunPhase, end: EndedAttempt['end'], run: RunsTable): SpanAttributes {
  if (name === 'claim') return { 'switchyard.worker.id': run.worker_id ?? '' };
  if (name !== 'execute') return {};
  const worker = { 'switchyard.worker.id': run.worker_id ?? '' };
  if (end.kind === 'dead') return { ...worker, 'switchyard.run.end_reason': 'worker_died' };
  if (end.kind !== 'ended') return {};
  return {
    ...worker,
    'switchyard.run.containment': end.containment,
    'switchyard.run.end_reason': end.reason,
    ...(end.exitCode === null ? {} : { 'process.exit.code': end.exitCode }),
  };
}

interface PhaseTimes {
  name: RunPhase;
  startedAt: number;
  endedAt: number;
  isError: boolean;
}

/** Returns when the run was queued for its latest attempt. */
const findQueuedTime = ({ requeued_at, created_at }: RunsTable): number => requeued_at ?? created_at;

/** Returns the phases in their order. Clocks of several machines differ, so no phase starts before the one before it ends. */
function listPhases({ run, claimedAt, end, storedAt }: EndedAttempt): PhaseTimes[] {
  const phases: PhaseTimes[] = [];
  let last = findQueuedTime(run);
  const add = (name: RunPhase, until: number, isError = false): void => {
    const endedAt = Math.max(last, until);
    phases.push({ name, startedAt: last, endedAt, isError });
    last = endedAt;
  };
  const initiatedAt = run.initiated_at ?? last;
  add('queued', initiatedAt);
  if (end.kind === 'dead') {
    // From the claim until the worker was declared dead: the spans of the app are below it.
    add('execute', storedAt, true);
    return phases;
  }
  add('claim', claimedAt ?? initiatedAt);
  if (end.kind !== 'ended' || !hasStarted(end)) {
    add('prepare', storedAt, true);
    return phases;
  }
  add('prepare', end.startedAt);
  add('execute', end.startedAt + end.executionMs, !end.succeeded);
  add('store results', storedAt);
  return phases;
}

/** An app that could not be started has no phase of execution. */
function hasStarted({ executionMs, reason }: EndedRun): boolean {
  return executionMs > 0 || reason === 'exit' || reason === 'signal';
}
