/** Plans of switchback tests: fair coins, thrown again the same from their seed. */
import { expect, test } from 'vitest';
import { computePlanEnd, countEndedUnits } from '../store/online-test-definitions.ts';
import { drawUnits } from './define-online-tests.ts';

test('a plan is drawn with equal chances, unit by unit, and again the same from its seed', () => {
  const drawn = Array.from({ length: 40 }, (_, seed) => drawUnits(`seed ${seed}`, 250, 'b', 'c')).flat();
  expect(drawUnits('seed 7', 250, 'b', 'c')).toEqual(drawn.slice(7 * 250, 8 * 250));
  const count = (units: string[]) => units.filter((unit) => unit === 'c').length;
  // 10,000 fair coins: 4 standard deviations are 200; so are changes from one to the next.
  expect(Math.abs(count(drawn) - 5000)).toBeLessThan(200);
  const changes = drawn.slice(1).filter((unit, index) => unit !== drawn[index]).length;
  expect(Math.abs(changes - 5000)).toBeLessThan(200);
});

test('units are over one after the other, at the very end of each', () => {
  const plan = {
    baseline: 'b',
    candidate: 'c',
    unitMinutes: 2,
    units: ['b', 'c', 'b'],
    seed: '',
    objectives: {},
  };
  const begun = { ...plan, start: 1000 };
  expect(computePlanEnd(begun)).toBe(1000 + 360_000);
  expect(computePlanEnd({ ...plan, start: null })).toBeNull();
  const over = [0, 1000, 120_999, 121_000, 360_999, 361_000, 1e12].map((at) => countEndedUnits(begun, at));
  expect(over).toEqual([0, 0, 0, 1, 2, 3, 3]);
});
