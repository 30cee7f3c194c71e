/** Formats of instants. */
import { expect, test } from 'vitest';
import { createMicrosFormatter } from './clock.ts';

test('timestamps have microseconds, also of seconds that come again and before 1970', () => {
  const format = createMicrosFormatter();
  expect([1e6, 1_999_999, 2e6, 1e6 + 42, -1].map(format)).toEqual([
    '1970-01-01T00:00:01.000000Z',
    '1970-01-01T00:00:01.999999Z',
    '1970-01-01T00:00:02.000000Z',
    '1970-01-01T00:00:01.000042Z',
    '1969-12-31T23:59:59.999999Z',
  ]);
});
