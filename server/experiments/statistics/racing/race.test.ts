/** Races on chosen outcomes. The expected e-values are arithmetic, from the formulas at the head of duel.ts. */
import { describe, expect, test } from 'vitest';
import { Duel, type RaceOutcome, type RaceScale } from './duel.ts';
import { type RaceInput, runRace } from './race.ts';

const SCALE: RaceScale = {
  direction: 'minimize',
  measure: 'relative',
  tie_tolerance: 1e-9,
  shift: 0,
  factor: 1,
};
const FAILED: RaceOutcome = { value: null, failed: 1 };
const succeed = (value: number): RaceOutcome => ({ value, failed: 0 });

/** Returns the average over the rates of the products of f(u). */
function multiply(units: readonly number[]): number {
  const rates = [0.25, 0.5, 1, 2];
  const products = rates.map((rate) =>
    units.reduce((product, unit) => (product * 2) / (1 + Math.exp(-2 * rate * unit)), 1),
  );
  return products.reduce((total, product) => total + product / rates.length, 0);
}

function duel(pairs: readonly (readonly [RaceOutcome, RaceOutcome])[], scale = SCALE) {
  const one = new Duel(scale);
  for (const [first, second] of pairs) one.add(first, second);
  return one.evidence;
}

describe('the evidence of a duel', () => {
  const e = Math.E;
  test.each([
    ['ties', [[succeed(5), succeed(5)]], []],
    ['a first effect by its sign', [[succeed(e ** 3), succeed(1)]], [1]],
    [
      'effects by the root mean square of the earlier ones',
      [
        [succeed(e ** 3), succeed(1)],
        [succeed(1), succeed(e ** 1.5)],
        [succeed(1e90), succeed(1)],
      ],
      [1, -0.5, 4],
    ],
    [
      'a lost input at the limit, outside of the scale',
      [
        [succeed(e), succeed(1)],
        [succeed(1), FAILED],
        [FAILED, succeed(1)],
        [FAILED, FAILED],
        [succeed(e), succeed(1)],
      ],
      [1, -4, 4, 0, 1],
    ],
    [
      'differences after a value that is not positive',
      [
        [succeed(e ** 2), succeed(1)],
        [succeed(-1), succeed(1)],
        [succeed(5), succeed(1)],
      ],
      // The scale starts again: -1 by its sign, then 4 / 2.
      [1, -1, 2],
    ],
  ] as const)('counts %s', (_name, pairs, units) => {
    const [firstWorse, secondWorse] = duel(pairs);
    expect(firstWorse).toBeCloseTo(multiply(units), 12);
    expect(secondWorse).toBeCloseTo(multiply(units.map((unit) => -unit)), 12);
  });

  test('has the other sign where more is better', () => {
    const [firstWorse] = duel([[succeed(2), succeed(1)]], { ...SCALE, direction: 'maximize' });
    expect(firstWorse).toBeCloseTo(multiply([-1]), 12);
  });

  test('has a mean of 1 over all signs of the same effects', () => {
    const sizes = [1, 3, 0.2, 0.7, 2, 1.1, 0.4, 5];
    let total = 0;
    for (let signs = 0; signs < 2 ** sizes.length; signs += 1)
      total += duel(
        sizes.map((size, index) => [
          succeed(Math.exp((signs >> index) % 2 === 0 ? size : -size)),
          succeed(1),
        ]),
      )[0];
    expect(total / 2 ** sizes.length).toBeCloseTo(1, 12);
  });
});

describe('a race', () => {
  const settings = { confidence: 0.95, scale: SCALE, configurations: 3, inputs: 40 };
  const START = { dropped: [], decided_inputs: 0 };
  const repeat = (count: number, values: readonly number[]): RaceInput[] =>
    Array.from({ length: count }, () => values.map(succeed));

  test('drops nothing before the tenth input, and never the control', () => {
    const inputs = repeat(12, [200, 100, 150]);
    expect(runRace(inputs.slice(0, 9), settings, START).dropped).toEqual([]);
    const { dropped, e_values } = runRace(inputs, settings, START);
    expect(dropped).toEqual([
      {
        configuration: 2,
        after_inputs: 10,
        against: 1,
        // Worse than the first candidate, better than the control.
        e_value: expect.closeTo((multiply(Array(10).fill(1)) + multiply(Array(10).fill(-1))) / 2, 9),
      },
    ]);
    // The duel with the dropped one ended with the tenth input.
    expect(e_values[1]).toBeCloseTo((multiply(Array(12).fill(-1)) + multiply(Array(10).fill(-1))) / 2, 12);
  });

  test('keeps decisions that were made before, and makes none for the inputs before them', () => {
    const inputs = repeat(12, [100, 100, 150]);
    const dropped = [{ configuration: 1, after_inputs: 11, against: 0, e_value: 99 }];
    expect(runRace(inputs, settings, { dropped, decided_inputs: 11 }).dropped).toEqual([
      ...dropped,
      expect.objectContaining({ configuration: 2, after_inputs: 12 }),
    ]);
  });

  test('drops nothing after the last input, where it saves nothing', () => {
    expect(runRace(repeat(10, [100, 100, 150]), { ...settings, inputs: 10 }, START).dropped).toEqual([]);
  });

  test('keeps a configuration that is a little worse on most inputs and much better on a few', () => {
    const values = Array.from({ length: 39 }, (_, input) => (input % 6 === 0 ? 70 : 102));
    const rare = values.map((value) => [100, 100, value].map(succeed));
    expect(runRace(rare, settings, START).dropped).toEqual([]);
    // Two sides: the typical change alone is enough evidence, as without the rare gain.
    const typical = repeat(39, [100, 100, 102]);
    expect(runRace(typical, settings, START).dropped).toMatchObject([{ configuration: 2 }]);
  });

  test('skips inputs that a configuration did not run', () => {
    const inputs = repeat(20, [100, 100, 150]).map(
      ([control = null, one = null]): RaceInput => [control, one, null],
    );
    expect(runRace(inputs, settings, START)).toEqual({ dropped: [], e_values: [1, 1, 1] });
  });
});
