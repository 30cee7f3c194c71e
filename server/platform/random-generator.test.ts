import { describe, expect, test } from 'vitest';
import { RandomGenerator } from './random-generator.ts';

describe('seeded randomness', () => {
  test('matches the published first numbers of xoshiro128**', () => {
    // The reference test of the Rust crate rand_xoshiro, state 1, 2, 3, 4.
    const generator = new RandomGenerator([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, () => generator.bits())).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
  });

  test('repeats its numbers for the same seed, and differs for another', () => {
    const drawBits = (seed: string) => {
      const generator = new RandomGenerator(seed);
      return Array.from({ length: 20 }, () => generator.bits());
    };
    expect(drawBits('a')).toEqual(drawBits('a'));
    expect(drawBits('')).not.toEqual(drawBits('a'));
    expect(drawBits('ab')).not.toEqual(drawBits('ba'));
  });

  test('draws integers evenly and normal numbers with mean 0 and variance 1', () => {
    const generator = new RandomGenerator('even');
    const hits = new Array<number>(7).fill(0);
    let total = 0;
    let squares = 0;
    for (let draw = 0; draw < 70_000; draw += 1) {
      const index = generator.integerBelow(7);
      hits[index] = (hits[index] ?? 0) + 1;
      const normal = generator.normal();
      total += normal;
      squares += normal * normal;
    }
    // Chi-squared with 6 degrees of freedom: above 22.5 once in a thousand seeds.
    expect(hits.reduce((sum, hit) => sum + (hit - 10_000) ** 2 / 10_000, 0)).toBeLessThan(22.5);
    expect(Math.abs(total / 70_000)).toBeLessThan(0.013);
    expect(Math.abs(squares / 70_000 - 1)).toBeLessThan(0.018);
  });
});
