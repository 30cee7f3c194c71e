/**
 * The trace of a run. All of its ids but that of the caller's span follow from the run, so every process that knows the row
 * knows them. One process can hand the app its span, and another one can record it.
 */
import { createHash } from 'node:crypto';
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';
import {
  formatStoredContext,
  formatTraceparent,
  parseStoredContext,
  setSampled,
  type TraceContext,
} from '../../platform/tracing/trace-context.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { RunsTable } from '../store/schema.ts';

/** The steps of an attempt, in their order. */
export type RunPhase = 'queued' | 'claim' | 'prepare' | 'execute' | 'store results';

/** A run, as far as its trace depends on it. */
export type TracedRun = Pick<RunsTable, 'id' | 'fence' | 'trace_context'>;

/** The trace of one attempt of a run. */
export interface RunTrace {
  /** The span that created the run; null for a run that begins its trace. */
  parent: TraceContext | null;
  /** The span of the run, from its creation to its end. */
  run: TraceContext;
  /** Returns the span of a phase of the attempt. */
  phase(name: RunPhase): TraceContext;
}

const TRACE_ID_CHARS = 32;
const SPAN_ID_CHARS = 16;

function hash(text: string, characters: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, characters);
}

/** A request for a run. */
export interface TracedRequest {
  /** The span that creates the run. */
  trace?: TraceContext | null | undefined;
}

/** Returns the column that stores the span of the request. */
export function formatTrace({ trace }: TracedRequest): Pick<RunsTable, 'trace_context'> {
  return { trace_context: trace ? formatStoredContext(trace) : null };
}

/** Returns the trace of the attempt with the fencing token of the run. */
export function findRunTrace({ id, fence, trace_context }: TracedRun, tracing: Tracing): RunTrace {
  const parent = parseStoredContext(trace_context);
  const traceId = parent?.traceId ?? hash(`trace ${id}`, TRACE_ID_CHARS);
  const flags = setSampled(parent?.flags ?? 0, tracing.isSampled(traceId, parent));
  const state = parent?.state ?? '';
  const span = (name: string): TraceContext => ({ traceId, spanId: hash(name, SPAN_ID_CHARS), flags, state });
  return { parent, run: span(`run ${id}`), phase: (name) => span(`${id} ${fence} ${name}`) };
}

/** Returns the stored context of a child run: its parent is the span of the run that it belongs to. */
export function findChildContext(run: TracedRun, tracing: Tracing | null): TraceContext | null {
  return tracing ? findRunTrace(run, tracing).run : parseStoredContext(run.trace_context);
}

/**
 * Returns the variables by which an app finds its place in the trace. A server without an exporter passes the
 * span of the caller to the app. Empty when the caller sent none.
 */
export function buildTraceEnvironment(run: TracedRun, tracing: Tracing | null): TraceVariables {
  const context = tracing
    ? findRunTrace(run, tracing).phase('execute')
    : parseStoredContext(run.trace_context);
  if (context === null) return {};
  return {
    TRACEPARENT: formatTraceparent(context),
    ...(context.state === '' ? {} : { TRACESTATE: context.state }),
  };
}
