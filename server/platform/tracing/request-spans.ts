/** The spans of requests. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import { parseTraceContext, setSampled, type TraceContext } from './trace-context.ts';
import type { SpanAttributes, Tracing } from './tracing.ts';

/** The span of a request under way. */
export interface RequestSpan {
  context: TraceContext;
  /** The span of the caller; null when it sent none. */
  parent: TraceContext | null;
  startedAt: number;
}

interface Parts {
  tracing: Tracing;
  clock: Clock;
  random: Random;
}

/** A response that was sent. */
interface SentResponse {
  /** Method and path of the operation, with the names of its parameters in place of their values. */
  name: string;
  status: number;
  elapsedMs: number;
  attributes: SpanAttributes;
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Starts and ends the spans of requests. */
export class RequestSpans {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Starts a span below the one in `traceparent`, else a new trace. */
  start({ traceparent, tracestate }: IncomingHttpHeaders): RequestSpan {
    const { tracing, clock, random } = this.#parts;
    const parent = parseTraceContext(traceparent, tracestate);
    const traceId = parent?.traceId ?? random.bytes(TRACE_ID_BYTES).toString('hex');
    const context = {
      traceId,
      spanId: random.bytes(SPAN_ID_BYTES).toString('hex'),
      flags: setSampled(parent?.flags ?? 0, tracing.isSampled(traceId, parent)),
      state: parent?.state ?? '',
    };
    return { context, parent, startedAt: clock.now() };
  }

  /** Ends the span. A status from 500 on is an error of the server; a lower one is not, even if it refuses the request. */
  end({ context, parent, startedAt }: RequestSpan, response: SentResponse): void {
    const { name, status, elapsedMs, attributes } = response;
    this.#parts.tracing.record({
      ...{ name, kind: 'server', context, parent, startedAt },
      endedAt: startedAt + elapsedMs,
      attributes: { ...attributes, 'http.response.status_code': status },
      isError: status >= 500,
    });
  }
}
