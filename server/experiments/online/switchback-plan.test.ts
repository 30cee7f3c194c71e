/** The times of switchback plans. */
import { expect, test } from 'vitest';
import { computePlanEnd, countEndedUnits } from '../store/online-test-definitions.ts';

test('a unit counts as ended at its exact end', () => {
  const plan = {
    baseline: 'b',
    candidate: 'c',
    unitMinutes: 2,
    units: ['b', 'c', 'b'],
    seed: '',
    design: { kind: 'independent' as const, carryOverUnits: 0 },
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
