/** The trace context of W3C: the headers `traceparent` and `tracestate`. https://www.w3.org/TR/trace-context/ */

/** A span as other processes refer to it. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  traceId: string;
  /** 16 lower-case hexadecimal digits. */
  spanId: string;
  /** The flags of the standard: 1 for a sampled trace, 2 for a random trace id. */
  flags: number;
  /** The header `tracestate`; empty for none. */
  state: string;
}

const SAMPLED = 0x01;
/** The flags that the standard defines. */
const KNOWN_FLAGS = 0x03;
const TRACE_STATE_CHARS_MAX = 512;
const TRACE_STATE_MEMBERS_MAX = 32;

/** Later versions of the standard may append fields, which a reader of this version ignores. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const STATE_KEY = /^([a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

type HeaderValue = string | readonly string[] | undefined;

/** Returns the context of the headers; null without `traceparent` and for a malformed one. A malformed `tracestate` is dropped. */
export function parseTraceContext(traceparent: HeaderValue, tracestate?: HeaderValue): TraceContext | null {
  const match = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (!match) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', further] = match;
  if (version === 'ff' || (version === '00' && further !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & KNOWN_FLAGS,
    state: parseTraceState(typeof tracestate === 'string' ? tracestate : (tracestate?.join(',') ?? '')),
  };
}

/** Returns the members of the header without spaces around them; empty for a header with a malformed member. */
function parseTraceState(header: string): string {
  const members = header
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const keys = new Set<string>();
  for (const member of members) {
    const [key = '', value = '', ...rest] = member.split('=');
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(value) || rest.length > 0) return '';
    keys.add(key);
  }
  const state = members.join(',');
  const isValid = keys.size === members.length && members.length <= TRACE_STATE_MEMBERS_MAX;
  return isValid && state.length <= TRACE_STATE_CHARS_MAX ? state : '';
}

/** Returns true if the spans of the trace are to be exported. */
export function isSampled({ flags }: Pick<TraceContext, 'flags'>): boolean {
  return (flags & SAMPLED) !== 0;
}

/** Returns the flags with the decision of a sampler. */
export function setSampled(flags: number, sampled: boolean): number {
  return sampled ? flags | SAMPLED : flags & ~SAMPLED;
}

/** Formats the header `traceparent`. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** Formats the context for a column: `traceparent`, then a space and `tracestate` if there is one. */
export function formatStoredContext(context: TraceContext): string {
  return `${formatTraceparent(context)} ${context.state}`.trimEnd();
}

/** Returns the context in a column; null for none. */
export function parseStoredContext(text: string | null): TraceContext | null {
  if (text === null) return null;
  const space = text.indexOf(' ');
  return space < 0 ? parseTraceContext(text) : parseTraceContext(text.slice(0, space), text.slice(space + 1));
}
