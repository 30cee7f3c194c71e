import { expect, test } from 'vitest';
import { makeId, type Random, systemRandom } from './random.ts';

const createRandomAt = (instant: number): Random => ({ ...systemRandom, nowMs: () => instant });

test('ids have the alphabet of ids and their prefix, and differ', () => {
  const ids = Array.from({ length: 2000 }, () => makeId<string>(systemRandom, 'run'));
  expect(new Set(ids).size).toBe(2000);
  for (const id of ids) expect(id).toMatch(/^run-[0-9a-z]{19}$/);
});

test.each([
  [0, 1],
  [1_795_000_000_000, 1_795_000_000_001],
  [31, 32],
  [1_795_000_000_031, 1_795_000_000_032],
])('an id from %i sorts before one from %i', (earlier, later) => {
  expect(makeId<string>(createRandomAt(earlier), 'x') < makeId<string>(createRandomAt(later), 'x')).toBe(
    true,
  );
});

test('random bytes have the requested length, below and above the pool size, and never repeat', () => {
  expect(systemRandom.bytes(5000).length).toBe(5000);
  const values = Array.from({ length: 1000 }, () => systemRandom.bytes(16).toString('hex'));
  expect(new Set(values).size).toBe(1000);
});
