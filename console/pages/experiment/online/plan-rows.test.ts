/** The rows of a switchback plan. */
import { expect, test } from 'vitest';
import { listRows } from './plan-rows.ts';

const HOUR = 3_600_000;
const plan = (count: number, hours: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ index, duration_minutes: hours * 60, instance_id: index % 2 === 0 ? 'a' : 'b' },
  }));

test('a plan of two days has a row for each day, and a unit across midnight stands in both', () => {
  const { rows, days } = listRows(plan(6, 7), 0);
  expect([rows.length, days]).toEqual([2, 1]);
  expect(rows[0]?.segments.at(-1)).toMatchObject({ start: 21 * HOUR, end: 24 * HOUR, isSwitch: true });
  expect(rows[1]?.segments[0]).toMatchObject({
    start: 24 * HOUR,
    end: 28 * HOUR,
    isSwitch: false,
    isStart: false,
  });
});

test('a plan of four weeks has a row for each week', () => {
  const { rows, days } = listRows(plan(56, 12), 0);
  expect([rows.length, days]).toEqual([4, 7]);
});

test('a plan of ten minutes fills its row, instead of the first minutes of a day', () => {
  const { rows, length } = listRows(plan(10, 1 / 60), 0);
  expect([rows.length, length]).toEqual([1, HOUR / 6]);
  expect(rows[0]?.segments).toHaveLength(10);
});
