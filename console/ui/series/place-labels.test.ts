import { expect, test } from 'vitest';
import { placeLabels } from './place-labels.ts';
import { listTimeTicks } from './time-ticks.ts';

test.each([
  ['labels with space stay where they are', [10, 50, 90], [10, 50, 90]],
  ['close labels move apart, in their order', [52, 50], [66, 50]],
  ['labels stay inside at the bottom', [98, 99, 100], [68, 84, 100]],
])('%s', (_, wanted, placed) => {
  expect(placeLabels(wanted, 16, [0, 100])).toEqual(placed);
});

test.each([
  [90, 's', [0, 20, 40, 60, 80]],
  [12, 's', [0, 5, 10]],
  [150, 'min', [0, 0.5, 1, 1.5, 2, 2.5]],
  [300, 'min', [0, 1, 2, 3, 4, 5]],
  [3_000, 'min', [0, 10, 20, 30, 40, 50]],
  [43_200, 'h', [0, 3, 6, 9, 12]],
  [0.8, 's', [0, 0.2, 0.4, 0.6, 0.8]],
])('the ticks of %d s are round in %s', (end, unit, expected) => {
  const { ticks, factor, unit: own } = listTimeTicks(end, 6);
  expect([own, ticks.map((tick) => Number((tick / factor).toPrecision(6)))]).toEqual([unit, expected]);
});
