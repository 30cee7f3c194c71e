/** Sets of inputs as short hashes. */
import { expect, test } from 'vitest';
import { countSharedInputs, STORED_INPUTS_MAX, storeInputs } from './input-hashes.ts';

const list = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `input ${from + index}`);

test.each([
  [list(0, 12), list(0, 12), { total: 12, shared: 12, earlier: 12 }],
  [list(0, 16), list(0, 20), { total: 16, shared: 16, earlier: 20 }],
  [list(10, 30), list(0, 20), { total: 20, shared: 10, earlier: 20 }],
  [list(0, 5), list(5, 9), { total: 5, shared: 0, earlier: 4 }],
  [[], list(0, 3), { total: 0, shared: 0, earlier: 3 }],
  [['a', 'a', 'b'], ['b'], { total: 2, shared: 1, earlier: 1 }],
])('T9: case %#', (own, other, expected) => {
  expect(countSharedInputs(storeInputs(own), storeInputs(other))).toEqual(expected);
});

test('T9: of more inputs than the limit, the stored ones tell the share', () => {
  const half = STORED_INPUTS_MAX;
  const [own, other] = [storeInputs(list(0, 4 * half)), storeInputs(list(2 * half, 6 * half))];
  const { total, shared, earlier } = countSharedInputs(own, other);
  expect(own).toHaveLength(8 * STORED_INPUTS_MAX);
  // Half of the inputs are shared: the standard error of the share is 0.011.
  expect(shared / total).toBeGreaterThan(0.45);
  expect(shared / total).toBeLessThan(0.55);
  expect(earlier).toBeGreaterThan(0.9 * STORED_INPUTS_MAX);
  // All of a smaller set is found, as far as both could have stored it.
  const inside = countSharedInputs(storeInputs(list(0, 100)), own);
  expect(inside.shared).toBe(inside.total);
});
