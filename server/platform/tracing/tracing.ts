/**
 * Spans of OpenTelemetry. A span is recorded once it has ended, with the times and the ids that its owner knows. So no
 * object has to live as long as a run, nor to move from one process to another.
 *
 * The libraries are loaded only with settings: without them a process pays only for a comparison with null.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { TracingSettings } from './settings.ts';
import type { TraceContext } from './trace-context.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface EndedSpan {
  name: string;
  /** `server` for the span of a request. */
  kind: 'server' | 'internal';
  context: TraceContext;
  /** null for the first span of a trace. */
  parent: TraceContext | null;
  /** In milliseconds since the epoch, with fractions where they are known. */
  startedAt: number;
  endedAt: number;
  attributes: SpanAttributes;
  isError: boolean;
}

/** The spans of this process; null in its place means that none is exported. */
export interface Tracing {
  /** Returns the decision of the sampler, which is the same in every process with the same settings. */
  isSampled(traceId: string, parent: TraceContext | null): boolean;
  /** Queues an ended span for export, unless its trace is not sampled. Never throws, and never waits. */
  record(span: EndedSpan): void;
  /** Exports the queued spans, for at most two seconds. Never throws. */
  close(): Promise<void>;
}

export interface TracingParts {
  clock: Clock;
  log: Log;
  /** Counts the spans of a batch that the receiver has accepted, or has not. */
  onExport(spans: number, result: 'exported' | 'failed'): void;
}

/** Loads the exporter; null without settings. Throws a ConfigError for a file that cannot be read. */
export async function openTracing(
  settings: TracingSettings | null,
  parts: TracingParts,
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  return createOtlpTracing(settings, parts);
}
