import { expect, test } from 'vitest';
import { formatSpan, layoutLanes, listTicks } from './layout-lanes.ts';

const bar = (resource: string, start: number, end: number) => ({
  resource,
  label: '',
  key: undefined,
  group: '',
  start,
  end,
  facts: [],
});

test('bars of a resource share a lane, and overlapping ones have their rows', () => {
  const lanes = layoutLanes([bar('b', 5, 9), bar('a', 0, 1), bar('b', 0, 6), bar('b', 6, 7)]);
  expect(
    lanes.map(({ resource, rows, bars }) => [resource, rows, bars.map(({ index, row }) => [index, row])]),
  ).toEqual([
    [
      'b',
      2,
      [
        [2, 0],
        [0, 1],
        [3, 0],
      ],
    ],
    ['a', 1, [[1, 0]]],
  ]);
});

const morning = Date.UTC(2026, 2, 2, 6);
const HOUR_MS = 3_600_000;

test.each<[string, { start: number; end: number; hasClock: boolean }, string[]]>([
  ['numbers', { start: 0, end: 100, hasClock: false }, ['0', '20', '40', '60', '80', '100']],
  ['fractions', { start: 0.1, end: 0.4, hasClock: false }, ['0.1', '0.2', '0.3', '0.4']],
  [
    'hours',
    { start: morning, end: morning + 5 * HOUR_MS, hasClock: true },
    ['2 Mar, 06:00', '07:00', '08:00', '09:00', '10:00', '11:00'],
  ],
  [
    'days',
    { start: morning, end: morning + 50 * HOUR_MS, hasClock: true },
    ['2 Mar, 12:00', '3 Mar', '12:00', '4 Mar'],
  ],
  ['one instant', { start: 7, end: 7, hasClock: false }, ['7']],
])('marks %s', (_, { start, end, hasClock }, texts) => {
  expect(listTicks(start, end, { hasClock, ticksMax: 6 }).map(({ text }) => text)).toEqual(texts);
});

test.each<[number, number, boolean, string]>([
  [morning, morning + HOUR_MS, true, '2 Mar, 06:00 to 07:00'],
  [morning, morning + 20 * HOUR_MS, true, '2 Mar, 06:00 to 3 Mar, 02:00'],
  [0, 1500, false, '0 to 1,500'],
])('writes the span from %d to %d', (start, end, hasClock, text) => {
  expect(formatSpan(bar('a', start, end), hasClock)).toBe(text);
});
