/** Designs of switchback plans: their coins, their balance over hours, and the units that count. */
import { describe, expect, test } from 'vitest';
import {
  assignUnits,
  findCountedUnits,
  hasEnoughCountedUnits,
  listCoins,
  type SwitchbackDesign,
} from './design.ts';
import { canPlanDecide, computeSmallestPValue, drawPlan, findUnitsForVerdict } from './plan-units.ts';

const HOUR = 60;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('coins', () => {
  test.each<[string, SwitchbackDesign, { first: number[]; second: number[] }[]]>([
    [
      'independent: one for each unit',
      { kind: 'independent', carryOverUnits: 1, units: 3, unitMinutes: HOUR },
      range(0, 2).map((unit) => ({ first: [unit], second: [] })),
    ],
    [
      'blocked within a day: one for two consecutive blocks',
      { kind: 'blocked', carryOverUnits: 1, units: 9, unitMinutes: HOUR },
      [
        { first: [0, 1], second: [2, 3] },
        { first: [4, 5], second: [6, 7, 8] },
      ],
    ],
    [
      'blocked over two days: one for blocks of the same hours',
      { kind: 'blocked', carryOverUnits: 1, units: 8, unitMinutes: 6 * HOUR },
      [
        { first: [0, 1], second: [4, 5] },
        { first: [2, 3], second: [6, 7] },
      ],
    ],
    [
      'blocked over two weeks: one for blocks of the same hours of the week',
      { kind: 'blocked', carryOverUnits: 0, units: 14, unitMinutes: 24 * HOUR },
      range(0, 6).map((day) => ({ first: [day], second: [day + 7] })),
    ],
    [
      // Bojinov, Simchi-Levi and Zhao: with 12 units and order 2 the coins fall before units 0, 4, 6 and 8.
      'regular: one for every two units, the first and the last stretch of four',
      { kind: 'regular', carryOverUnits: 2, units: 12, unitMinutes: HOUR },
      [range(0, 3), [4, 5], [6, 7], range(8, 11)].map((first) => ({ first, second: [] })),
    ],
    [
      'a plan of one unit: one',
      { kind: 'blocked', carryOverUnits: 1, units: 1, unitMinutes: HOUR },
      [{ first: [0], second: [] }],
    ],
  ])('%s', (_, design, expected) => {
    expect(listCoins(design)).toEqual(expected);
  });

  test('decide each unit exactly once, in every design', () => {
    for (const kind of ['independent', 'blocked', 'regular'] as const)
      for (const carryOverUnits of [0, 1, 2, 5])
        for (const units of [1, 2, 3, 7, 24, 101]) {
          const coins = listCoins({ kind, carryOverUnits, units, unitMinutes: 3 * HOUR });
          const decided = coins.flatMap(({ first, second }) => [...first, ...second]).sort((a, b) => a - b);
          expect(decided).toEqual(range(0, units - 1));
          const heads = assignUnits(coins, new Array(coins.length).fill(1), units);
          const tails = assignUnits(coins, new Array(coins.length).fill(0), units);
          // Every unit changes its side when all coins fall the other way.
          expect(heads.map((side, unit) => side + (tails[unit] ?? 0))).toEqual(new Uint8Array(units).fill(1));
        }
  });
});

const readSides = (letters: string) => Uint8Array.from(letters, (letter) => (letter === 'c' ? 1 : 0));
const showFlags = (flags: Uint8Array) => flags.join('');

describe('units that count', () => {
  // Before the plan the control (p) serves, so a plan that begins with the candidate begins with a switch.
  test.each([
    ['ppccpcccp', 0, '111111111'],
    ['ppccpcccp', 1, '110100110'],
    ['ppccpcccp', 2, '110000010'],
    ['ccpp', 1, '0101'],
    ['ccpp', 3, '0000'],
  ])('of %s with carry-over %i', (letters, carryOverUnits, expected) => {
    expect(showFlags(findCountedUnits(readSides(letters), carryOverUnits))).toBe(expected);
  });

  test.each([
    ['pppppccccc', 0, true],
    ['pppppcccc', 0, false],
    ['pppppppppc', 0, false],
    ['pppppppppcc', 1, false],
    ['pppppppppccc', 1, true],
  ])('of %s with carry-over %i are enough: %s', (letters, carryOverUnits, expected) => {
    expect(hasEnoughCountedUnits(readSides(letters), carryOverUnits)).toBe(expected);
  });
});

describe('a drawn plan', () => {
  test('is the same for the same seed, and other seeds give each side half of the units', () => {
    const design = { kind: 'independent', carryOverUnits: 0, units: 250, unitMinutes: HOUR } as const;
    const plans = range(0, 39).map((seed) => drawPlan(design, `seed ${seed}`));
    expect(drawPlan(design, 'seed 7')).toEqual(plans[7]);
    const sides = plans.flatMap((plan) => [...plan]);
    // For 10,000 fair coins, 4 standard deviations are 200; the number of changes has the same distribution.
    expect(Math.abs(sides.filter((side) => side === 1).length - 5000)).toBeLessThan(200);
    const changes = sides.slice(1).filter((side, index) => side !== sides[index]).length;
    expect(Math.abs(changes - 5000)).toBeLessThan(200);
  });

  test('of the blocked design gives both sides each hour equally often', () => {
    const design = { kind: 'blocked', carryOverUnits: 1, units: 4 * 24, unitMinutes: HOUR } as const;
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = drawPlan(design, `seed ${seed}`);
      for (let hour = 0; hour < 24; hour += 1)
        expect(range(0, 3).reduce((total, day) => total + (plan[24 * day + hour] ?? 0), 0)).toBe(2);
    }
  });

  test('has enough counted units whenever one in ten plans has them', () => {
    const design = { kind: 'independent', carryOverUnits: 1, units: 16, unitMinutes: HOUR } as const;
    for (let seed = 0; seed < 50; seed += 1)
      expect(hasEnoughCountedUnits(drawPlan(design, `seed ${seed}`), 1)).toBe(true);
  });
});

describe('a plan that can give a verdict', () => {
  test.each([
    // Six coins: 2 of 64 plans are 0.031, 2 of 32 were 0.0625.
    ['blocked', 0, 11],
    // Nine blocks of two: five coins, and at most one plan is as extreme.
    ['blocked', 1, 18],
    ['blocked', 2, 27],
    ['independent', 0, 10],
  ] as const)('needs, %s with carry-over %i, %i units', (kind, carryOverUnits, units) => {
    const design = { kind, carryOverUnits, unitMinutes: HOUR };
    expect(findUnitsForVerdict(design, 1000)).toBe(units);
    const plans = range(0, 19).map((seed) => drawPlan({ ...design, units }, `seed ${seed}`));
    expect(plans.every((plan) => canPlanDecide({ ...design, units }, plan))).toBe(true);
    const fewer = { ...design, units: units - 1 };
    expect(canPlanDecide(fewer, drawPlan(fewer, 'seed'))).toBe(false);
  });

  test('does not exist when carry-over lasts longer than units with the same side', () => {
    expect(
      findUnitsForVerdict({ kind: 'independent', carryOverUnits: 20, unitMinutes: HOUR }, 1000),
    ).toBeNull();
  });

  test('has a smallest p-value of two mirrored plans, or of one where the first unit breaks the symmetry', () => {
    const design = { kind: 'blocked', units: 24, unitMinutes: HOUR } as const;
    expect(computeSmallestPValue({ ...design, units: 12, carryOverUnits: 0 })).toEqual({
      pValue: 2 / 64,
      errorRate: 0.05,
      share: 1,
    });
    expect(computeSmallestPValue({ ...design, carryOverUnits: 1 })).toEqual({
      pValue: 1 / 64,
      errorRate: 0.05,
      share: 1,
    });
  });
});
