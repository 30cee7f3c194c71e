/** Races on chosen outcomes. The expected e-values are arithmetic, from the formulas at the head of betting.ts. */
import { describe, expect, test } from 'vitest';
import { Duel, type RaceInput, type RaceOutcome, type RaceScale, runRace } from './race.ts';

const SCALE: RaceScale = {
  direction: 'minimize',
  measure: 'relative',
  tie_tolerance: 1e-9,
  shift: 0,
  largest_loss: 0.5,
  factor: 1,
};
const FAILED: RaceOutcome = { value: null, failed: 1 };
const succeed = (value: number): RaceOutcome => ({ value, failed: 0 });

/** Returns the wealth of the bets on these changes: parts of it at the rates 1 / L, 1 / 2L, 1 / 4L and 1 / 8L. */
function bet(changes: readonly number[]): number {
  const bets = [
    { rate: 1, part: 1 / 2 },
    { rate: 1 / 2, part: 1 / 4 },
    { rate: 1 / 4, part: 1 / 8 },
    { rate: 1 / 8, part: 1 / 8 },
  ];
  return bets.reduce(
    (total, { rate, part }) =>
      total +
      changes.reduce(
        (wealth, change) => wealth * Math.max(0, 1 + (rate * change) / SCALE.largest_loss),
        part,
      ),
    0,
  );
}

function duel(pairs: readonly (readonly [RaceOutcome, RaceOutcome])[], scale = SCALE) {
  const one = new Duel(scale);
  for (const [first, second] of pairs) one.add(first, second);
  return one.evidence;
}

describe('the evidence of a duel', () => {
  test.each<[string, [RaceOutcome, RaceOutcome][], number[], number[]]>([
    ['ties', [[succeed(5), succeed(5)]], [], []],
    [
      'the change from the value of each configuration',
      [
        [succeed(125), succeed(100)],
        [succeed(50), succeed(100)],
      ],
      // 25 more than 100, of 125, and 50 fewer than 100, of 50.
      [0.2, -1],
      [-0.25, 0.5],
    ],
    [
      'a lost input as the largest loss',
      [
        [FAILED, succeed(1)],
        [succeed(1), FAILED],
        [FAILED, FAILED],
      ],
      [0.5, -0.5],
      [-0.5, 0.5],
    ],
    [
      'differences as shares of the largest earlier value, after a value that is not positive',
      [
        [succeed(20), succeed(10)],
        [succeed(-5), succeed(-1)],
        [succeed(40), succeed(30)],
      ],
      [0.5, -4 / 20, 10 / 20],
      [-1, 4 / 20, -10 / 20],
    ],
  ])('counts %s', (_name, pairs, firstChanges, secondChanges) => {
    const [firstWorse, secondWorse] = duel(pairs);
    expect(firstWorse).toBeCloseTo(bet(firstChanges), 12);
    expect(secondWorse).toBeCloseTo(bet(secondChanges), 12);
  });

  test('has the other sign where more is better', () => {
    const [firstWorse] = duel([[succeed(2), succeed(1)]], { ...SCALE, direction: 'maximize' });
    expect(firstWorse).toBeCloseTo(bet([-1]), 12);
  });

  test('T4: has a mean of at most 1 for a configuration that is as good on average, over all draws', () => {
    const CHANGES = [
      { change: -0.01, probability: 0.95 },
      { change: 0.19, probability: 0.05 },
    ];
    const INPUTS = 10;
    let total = 0;
    for (let draw = 0; draw < 2 ** INPUTS; draw += 1) {
      const drawn = Array.from({ length: INPUTS }, (_, index) => CHANGES[(draw >> index) % 2] ?? CHANGES[0]);
      const pairs = drawn.map((one): [RaceOutcome, RaceOutcome] => [
        succeed(1),
        succeed(1 + (one?.change ?? 0)),
      ]);
      total += drawn.reduce((product, one) => product * (one?.probability ?? 0), duel(pairs)[0]);
    }
    expect(total).toBeCloseTo(1, 12);
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
        // 50 of 150 worse than the first candidate, 50 of 150 better than the control.
        e_value: expect.closeTo((bet(Array(10).fill(1 / 3)) + bet(Array(10).fill(-1 / 3))) / 2, 9),
      },
    ]);
    // The duel with the dropped one ended with the tenth input.
    expect(e_values[1]).toBeCloseTo((bet(Array(12).fill(-1)) + bet(Array(10).fill(-0.5))) / 2, 12);
  });

  test('keeps decisions that were made before, and makes none for the inputs before them', () => {
    const inputs = repeat(12, [100, 100, 200]);
    const dropped = [{ configuration: 1, after_inputs: 11, against: 0, e_value: 99 }];
    expect(runRace(inputs, settings, { dropped, decided_inputs: 11 }).dropped).toEqual([
      ...dropped,
      expect.objectContaining({ configuration: 2, after_inputs: 12 }),
    ]);
  });

  test('drops nothing after the last input, where it saves nothing', () => {
    expect(runRace(repeat(10, [100, 100, 150]), { ...settings, inputs: 10 }, START).dropped).toEqual([]);
  });

  test('T4: keeps a configuration that is a little worse on most inputs and much better on a few', () => {
    const values = Array.from({ length: 39 }, (_, input) => (input % 6 === 0 ? 70 : 102));
    const rare = values.map((value) => [100, 100, value].map(succeed));
    expect(runRace(rare, settings, START).dropped).toEqual([]);
  });

  test('T4: keeps one that loses every input so far by 2 %, because rare gains may outweigh it', () => {
    expect(runRace(repeat(39, [100, 100, 102]), settings, START).dropped).toEqual([]);
    const bounded = { ...settings, scale: { ...SCALE, largest_loss: 0.05 } };
    expect(runRace(repeat(39, [100, 100, 102]), bounded, START).dropped).toMatchObject([
      { configuration: 2 },
    ]);
  });

  test('skips inputs that a configuration did not run', () => {
    const inputs = repeat(20, [100, 100, 150]).map(
      ([control = null, one = null]): RaceInput => [control, one, null],
    );
    expect(runRace(inputs, settings, START)).toEqual({ dropped: [], e_values: [1, 1, 1] });
  });
});
