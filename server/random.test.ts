import { expect, test } from 'vitest';
import { makeId, type Random, systemRandom } from './random.ts';

const at = (instant: number): Random => ({ ...systemRandom, nowMs: () => instant });

test('ids have the alphabet of ids, say what they are, and differ', () => {
  const ids = Array.from({ length: 2000 }, () => makeId<string>(systemRandom, 'run'));
  expect(new Set(ids).size).toBe(2000);
  for (const id of ids) expect(id).toMatch(/^run-[0-9a-z]{19}$/);
});

test.each([
  [0, 1],
  [1_795_000_000_000, 1_795_000_000_001],
  [31, 32],
  [1_795_000_000_031, 1_795_000_000_032],
])('an id made at %i stands before one made at %i', (earlier, later) => {
  expect(makeId<string>(at(earlier), 'x') < makeId<string>(at(later), 'x')).toBe(true);
});

test('random bytes are as many as asked, above and below what is asked of the system at once, and are not given twice', () => {
  expect(systemRandom.bytes(5000).length).toBe(5000);
  const taken = Array.from({ length: 1000 }, () => systemRandom.bytes(16).toString('hex'));
  expect(new Set(taken).size).toBe(1000);
});
