import { expect, test } from 'vitest';
import { NOISE_DISTRIBUTIONS, type Noise } from './populations.ts';
import { simulateAcceptanceTests, simulateShadowTests } from './simulate-tests.ts';

const noises = Object.keys(NOISE_DISTRIBUTIONS) as Noise[];
const EXPERIMENTS = 200;
/** With a true share of 5 %, the share in 200 experiments exceeds this once in a thousand times. */
const SHARE_MAX = 0.1;

test.each(noises)('shadow tests seldom call equal candidates better or worse, with noise %s', (noise) => {
  for (const originals of [10, 50]) {
    const { better, worse } = simulateShadowTests(
      { noise, repetitions: 1, effect: 0 },
      originals,
      EXPERIMENTS,
    );
    expect(better + worse).toBeLessThanOrEqual(SHARE_MAX);
  }
});

test('the power of shadow tests grows with their copies, without verdicts of the opposite sign', () => {
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
    expect(verdicts.better + verdicts.worse).toBeLessThanOrEqual(SHARE_MAX);
  }
});

test('an equal candidate passes a rule without a tolerance in about half of the tests, for any number of inputs', () => {
  for (const inputs of [10, 50]) {
    const { passRate } = simulateAcceptanceTests(
      { noise: 'normal', repetitions: 1, effect: 0 },
      inputs,
      EXPERIMENTS,
    );
    // Three and a half standard deviations of 200 tosses of a coin.
    expect(Math.abs(passRate - 0.5)).toBeLessThanOrEqual(0.125);
  }
});

test('a tolerance passes equal candidates more often with more inputs, and rejects worse ones', () => {
  const simulatePassRates = (effect: number) =>
    [10, 20].map(
      (inputs) =>
        simulateAcceptanceTests({ noise: 'normal', repetitions: 5, effect }, inputs, 100)
          .passRateWithinTolerance,
    );
  const [few = 0, many = 0] = simulatePassRates(0);
  expect(many).toBeGreaterThanOrEqual(few);
  expect(many).toBeGreaterThan(0.75);
  const [fewWorse = 1, manyWorse = 1] = simulatePassRates(0.03);
  expect(manyWorse).toBeLessThanOrEqual(fewWorse);
  expect(manyWorse).toBeLessThan(0.15);
});
