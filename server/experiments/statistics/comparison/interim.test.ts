/** Evidence about the mean before the end. Expected e-values are products by hand, and sums over all draws of a population. */
import { describe, expect, test } from 'vitest';
import { type BetUnit, measureInterim, measureMeanBets } from './interim.ts';

const BETS = [
  { rate: 1, part: 1 / 2 },
  { rate: 1 / 2, part: 1 / 4 },
  { rate: 1 / 4, part: 1 / 8 },
  { rate: 1 / 8, part: 1 / 8 },
];
/** Returns the wealth after these gains, as shares of the largest loss. */
const bet = (gains: readonly number[]) =>
  BETS.reduce(
    (total, { rate, part }) =>
      total + gains.reduce((wealth, gain) => wealth * Math.max(0, 1 + rate * gain), part),
    0,
  );
const RATIO = { measure: 'relative', orientation: 1, serial: false } as const;
const listUnits = (effects: readonly number[], magnitudes: readonly number[] = []): BetUnit[] =>
  effects.map((effect, index) => ({ effect, magnitude: magnitudes[index] ?? 1 }));
const changes = (ratios: readonly number[]) => listUnits(ratios.map(Math.log));

describe('the evidence about the mean', () => {
  test.each<
    [string, BetUnit[], { sign?: 1; measure?: 'absolute'; orientation?: -1; largestLoss?: number }, number[]]
  >([
    ['gains 20 % by four fifths of a value', changes([0.8]), {}, [0.2]],
    ['gains 25 % where more is better', changes([0.8]), { orientation: -1 }, [0.25]],
    ['gains nothing from a tie', changes([1, 0.8]), {}, [0.2]],
    ['is for higher values too', changes([1.5]), { sign: 1 }, [0.5]],
    ['is larger for a smaller largest loss', changes([0.8]), { largestLoss: 0.5 }, [0.4]],
    ['has a lost unit as the largest loss', listUnits([-Infinity, Infinity, -Infinity]), {}, [1]],
    [
      'has differences as shares of the largest earlier value',
      listUnits([-7, -1, -2], [10, 4, 20]),
      { measure: 'absolute' },
      [0.1, 0.2],
    ],
  ])('%s', (_name, units, { sign, ...options }, gains) => {
    expect(measureMeanBets(units, { ...RATIO, ...options }, sign ?? -1).mean_e_value_max).toBeCloseTo(
      bet(gains),
      12,
    );
  });

  test('keeps its largest value', () => {
    const found = measureMeanBets(changes([0.5, 0.5, 1.9]), RATIO, -1);
    expect(found).toEqual({ mean_e_value_max: expect.closeTo(bet([0.5, 0.5]), 12), largest_loss: 1 });
  });

  test('T4: reaches 20 with at most 5 % over all draws of changes whose mean is 0', () => {
    const UNITS = 16;
    for (const [share, gain, loss] of [
      [0.1, 0.02, 0.18],
      [0.5, 0.9, 0.9],
      [1 / 3, 0.45, 0.9],
    ] as const) {
      let probability = 0;
      for (let draw = 0; draw < 2 ** UNITS; draw += 1) {
        const losses = Array.from({ length: UNITS }, (_, unit) => (draw >> unit) % 2 === 1);
        const units = changes(losses.map((isLost) => (isLost ? 1 + loss : 1 - gain)));
        if (measureMeanBets(units, RATIO, -1).mean_e_value_max >= 20)
          probability += losses.reduce((total, isLost) => total * (isLost ? share : 1 - share), 1);
      }
      expect(probability).toBeLessThanOrEqual(0.05);
    }
  });

  test('T4: 19 gains of 1 % and a loss of 19 % in turn are evidence about the typical unit, and not about the mean', () => {
    const ratios = Array.from({ length: 100 }, (_, unit) => (unit % 20 === 19 ? 1.19 : 0.99));
    const found = measureInterim(changes(ratios), RATIO);
    expect(found.direction).toBe(-1);
    expect(found.e_value_max).toBeGreaterThan(100);
    expect(found.mean_e_value_max).toBeLessThan(1.5);
  });

  test('in time order subtracts what the unit before predicts', () => {
    // Long stretches of gains that a stretch of losses follows: independent units would be evidence.
    const ratios = Array.from({ length: 60 }, (_, unit) => (unit < 30 ? 1.3 : 0.7));
    expect(measureMeanBets(changes(ratios), { ...RATIO, serial: true }, -1).mean_e_value_max).toBeLessThan(
      10,
    );
    const gains = changes(Array.from({ length: 60 }, (_, unit) => 0.6 + 0.01 * (unit % 3)));
    expect(measureMeanBets(gains, { ...RATIO, serial: true }, -1).mean_e_value_max).toBeGreaterThan(100);
  });
});
