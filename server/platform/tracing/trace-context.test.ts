/** Parsing and formatting of the trace context of W3C. */
import { expect, test } from 'vitest';
import {
  formatStoredContext,
  formatTraceparent,
  parseStoredContext,
  parseTraceContext,
} from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

test.each([
  ['sampled', VALID, { traceId: TRACE, spanId: SPAN, flags: 1 }],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, { flags: 0 }],
  ['unknown flags are dropped', `00-${TRACE}-${SPAN}-ff`, { flags: 3 }],
  ['a later version with a further field', `01-${TRACE}-${SPAN}-01-what`, { traceId: TRACE, flags: 1 }],
])('traceparent: %s', (_name, header, expected) => {
  expect(parseTraceContext(header)).toMatchObject(expected);
});

test.each([
  ['absent', undefined],
  ['empty', ''],
  ['several', [VALID, VALID]],
  ['joined', `${VALID}, ${VALID}`],
  ['upper case', VALID.toUpperCase()],
  ['version ff', `ff-${TRACE}-${SPAN}-01`],
  ['version 00 with a further field', `${VALID}-00`],
  ['a later version with text behind the flags', `01-${TRACE}-${SPAN}-01what`],
  ['trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a letter that is not a hexadecimal digit', `00-${TRACE.replace('4', 'g')}-${SPAN}-01`],
  ['a line break', `${VALID}\nx`],
])('a malformed traceparent is ignored: %s', (_name, header) => {
  expect(parseTraceContext(header)).toBeNull();
});

const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');

test.each([
  ['spaces around members', 'a=1 ,\t b=2', 'a=1,b=2'],
  ['empty members', 'a=1,,b=2,', 'a=1,b=2'],
  ['a tenant', 'tenant@system=1', 'tenant@system=1'],
  ['several headers', ['a=1', 'b=2'], 'a=1,b=2'],
  ['32 members', members(32), members(32)],
  ['33 members', members(33), ''],
  ['the same key twice', 'a=1,a=2', ''],
  ['an upper-case key', 'A=1', ''],
  ['no value', 'a=', ''],
  ['two equals signs', 'a=1=2', ''],
  ['a value beyond ASCII', 'a=é', ''],
  ['more than 512 characters', `a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(20)}`, ''],
])('tracestate: %s', (_name, header, state) => {
  expect(parseTraceContext(VALID, header)).toMatchObject({ traceId: TRACE, state });
});

test('a stored context is read as it was', () => {
  for (const state of ['', 'a=1', 'a=1 2,b=3']) {
    const context = parseTraceContext(VALID, state);
    expect(context && parseStoredContext(formatStoredContext(context))).toEqual(context);
    expect(context && formatTraceparent(context)).toBe(VALID);
  }
  expect(parseStoredContext(null)).toBeNull();
});
