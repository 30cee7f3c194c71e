import { expect, test } from 'vitest';
import { NOISE_DISTRIBUTIONS, type Noise } from './populations.ts';
import { simulateAcceptanceTests, simulateShadowTests } from './simulate-tests.ts';

const noises = Object.keys(NOISE_DISTRIBUTIONS) as Noise[];
const EXPERIMENTS = 200;
/** With a true share of 5 %, 200 experiments show more than this once in a thousand times. */
const MOST = 0.1;

test.each(noises)('shadow tests seldom call equal candidates better or worse, with noise %s', (noise) => {
  for (const originals of [10, 50]) {
    const { better, worse } = simulateShadowTests(
      { noise, repetitions: 1, effect: 0 },
      originals,
      EXPERIMENTS,
    );
    expect(better + worse).toBeLessThanOrEqual(MOST);
  }
});

test('shadow tests find a true difference the more often the more runs are copied, and never turn it around', () => {
  const found = [10, 50, 300].map((originals) =>
    simulateShadowTests({ noise: 'normal', repetitions: 1, effect: 0.02 }, originals, 100),
  );
  const worse = found.map((shares) => shares.worse);
  expect(worse).toEqual([...worse].sort((a, b) => a - b));
  expect(worse[0]).toBeLessThan(0.3);
  expect(worse[2]).toBeGreaterThan(0.8);
  for (const { better } of found) expect(better).toBeLessThan(0.03);
});

test.each(noises)('acceptance tests seldom call equal candidates better or worse, with noise %s', (noise) => {
  for (const [inputs, repetitions] of [
    [10, 5],
    [20, 1],
  ] as const) {
    const { verdicts } = simulateAcceptanceTests({ noise, repetitions, effect: 0 }, inputs, EXPERIMENTS);
    expect(verdicts.better + verdicts.worse).toBeLessThanOrEqual(MOST);
  }
});

test('a rule without a tolerance is met by an equal candidate about as often as not, whatever is tried', () => {
  for (const inputs of [10, 50]) {
    const { passRate: met } = simulateAcceptanceTests(
      { noise: 'normal', repetitions: 1, effect: 0 },
      inputs,
      EXPERIMENTS,
    );
    // Three and a half standard deviations of 200 tosses of a coin.
    expect(Math.abs(met - 0.5)).toBeLessThanOrEqual(0.125);
  }
});

test('a tolerance lets equal candidates through the more often the more is tried, and holds worse ones back', () => {
  const of = (effect: number) =>
    [10, 20].map(
      (inputs) =>
        simulateAcceptanceTests({ noise: 'normal', repetitions: 5, effect }, inputs, 100)
          .passRateWithinTolerance,
    );
  const [few = 0, many = 0] = of(0);
  expect(many).toBeGreaterThanOrEqual(few);
  expect(many).toBeGreaterThan(0.75);
  const [fewWorse = 1, manyWorse = 1] = of(0.03);
  expect(manyWorse).toBeLessThanOrEqual(fewWorse);
  expect(manyWorse).toBeLessThan(0.15);
});
