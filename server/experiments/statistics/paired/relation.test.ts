/** The permutation test of like neighbours, against all orders of small sets. */
import { expect, test } from 'vitest';
import { placeGroups, testLikeNeighbours } from './relation.ts';

/** All orders of a list. */
function permute(values: readonly number[]): number[][] {
  if (values.length < 2) return [[...values]];
  return values.flatMap((value, index) =>
    permute(values.toSpliced(index, 1)).map((rest) => [value, ...rest]),
  );
}

/** The statistic as its definition says: pairs one by one, and the residuals of a regression on the place. */
function measure(effects: readonly number[], keys: readonly number[], distanceMax: number): number {
  const count = effects.length;
  const ranks = effects.map(
    (one) =>
      effects.filter((other) => other < one).length +
      (effects.filter((other) => other === one).length + 1) / 2,
  );
  const average = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const places = ranks.map((_, place) => place);
  const [placeMean, rankMean] = [average(places), average(ranks)];
  const covariance = average(places.map((place) => (place - placeMean) * ((ranks[place] ?? 0) - rankMean)));
  const slope = covariance / average(places.map((place) => (place - placeMean) ** 2));
  const rest = ranks.map((rank, place) => rank - rankMean - slope * (place - placeMean));
  const gap = (a: number, b: number) =>
    Math.abs((keys[a] ?? 0) - (keys[b] ?? 0)) / (Math.abs(keys[a] ?? 0) + Math.abs(keys[b] ?? 0));
  const gaps = places.slice(1).map((place) => gap(place, place - 1));
  const ascending = gaps.toSorted((a, b) => a - b);
  const middle = (ascending.length - 1) / 2;
  const median = ((ascending[Math.floor(middle)] ?? 0) + (ascending[Math.ceil(middle)] ?? 0)) / 2;
  let total = 0;
  for (let a = 0; a < count; a += 1)
    for (let b = a + 1; b < count && b - a <= distanceMax; b += 1)
      total += ((rest[a] ?? 0) * (rest[b] ?? 0)) / ((b - a) * (1 + gap(a, b) / median));
  return total;
}

/** The share of orders with at least as large a statistic. */
function enumerate(effects: readonly number[], keys: readonly number[], orders: readonly number[][]): number {
  const distanceMax = Math.floor(effects.length / 5);
  const limit = measure(effects, keys, distanceMax) - 1e-9;
  return orders.filter((order) => measure(order, keys, distanceMax) >= limit).length / orders.length;
}

/** Four standard errors of a share of 999 draws; a test that stops early has about 100 of them. */
const tolerance = (p: number) => 4 * Math.sqrt((p * (1 - p)) / (p > 0.1 ? 100 / p : 1000)) + 0.001;

test.each([
  ['near pairs are alike', [5, 5.1, -3, -3.2, 9, 8.8, 1], [10, 10.1, 20, 20.1, 40, 40.2, 80]],
  ['a trend is no likeness', [1, 2, 3, 4, 5, 6, 7], [1, 2, 4, 8, 16, 32, 64]],
  ['with ties', [0, 0, 0, 4, 4, 0, 1], [3, 3.5, 4, 9, 9.1, 12, 15]],
])('T2: the p-value is the share of all orders: %s', (_, effects, keys) => {
  const exact = enumerate(effects, keys, permute(effects));
  const drawn = testLikeNeighbours(Float64Array.from(effects), keys);
  expect(Math.abs(drawn - exact)).toBeLessThanOrEqual(tolerance(exact));
});

test('T2: the p-value is the share of all choices of three of ten places, with two distances', () => {
  const keys = [10, 10.2, 10.3, 14, 15, 18, 22, 23, 30, 31];
  const choose = (chosen: readonly number[]) => keys.map((_, place) => (chosen.includes(place) ? 1 : 0));
  const orders = keys.flatMap((_, a) =>
    keys.flatMap((__, b) => keys.flatMap((___, c) => (a < b && b < c ? [choose([a, b, c])] : []))),
  );
  expect(orders).toHaveLength(120);
  const effects = choose([0, 1, 2]);
  const exact = enumerate(effects, keys, orders);
  const drawn = testLikeNeighbours(Float64Array.from(effects), keys);
  expect(Math.abs(drawn - exact)).toBeLessThanOrEqual(tolerance(exact));
});

test('equal effects are not alike by chance', () => {
  expect(testLikeNeighbours(new Float64Array(20).fill(3), Array(20).fill(1))).toBe(1);
});

test('groups end at the widest gap near their nominal end', () => {
  expect(placeGroups([1, 1, 1, 1, 5, 5, 9, 9, 9], 3)).toEqual([0, 4, 6]);
  expect(placeGroups([1, 2, 3, 4], 2)).toEqual([0, 2]);
});
