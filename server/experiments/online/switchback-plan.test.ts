/** Plans of switchback tests: units with equal chances, which their seed reproduces. */
import { expect, test } from 'vitest';
import { computePlanEnd, countEndedUnits } from '../store/online-test-definitions.ts';
import { drawUnits } from './define-online-tests.ts';

test('draws each unit with equal chances, and the same plan from the same seed', () => {
  const drawn = Array.from({ length: 40 }, (_, seed) => drawUnits(`seed ${seed}`, 250, 'b', 'c')).flat();
  expect(drawUnits('seed 7', 250, 'b', 'c')).toEqual(drawn.slice(7 * 250, 8 * 250));
  const candidateCount = drawn.filter((unit) => unit === 'c').length;
  // For 10,000 fair coins, 4 standard deviations are 200; the number of changes has the same distribution.
  expect(Math.abs(candidateCount - 5000)).toBeLessThan(200);
  const changes = drawn.slice(1).filter((unit, index) => unit !== drawn[index]).length;
  expect(Math.abs(changes - 5000)).toBeLessThan(200);
});

test('a unit counts as ended at its exact end', () => {
  const plan = {
    baseline: 'b',
    candidate: 'c',
    unitMinutes: 2,
    units: ['b', 'c', 'b'],
    seed: '',
    objectives: {},
  };
  const startedPlan = { ...plan, start: 1000 };
  expect(computePlanEnd(startedPlan)).toBe(1000 + 360_000);
  expect(computePlanEnd({ ...plan, start: null })).toBeNull();
  const endedCounts = [0, 1000, 120_999, 121_000, 360_999, 361_000, 1e12].map((at) =>
    countEndedUnits(startedPlan, at),
  );
  expect(endedCounts).toEqual([0, 0, 0, 1, 2, 3, 3]);
});
