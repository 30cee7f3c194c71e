/** Randomisation tests and intervals of switchback tests against a list of every plan, computed independently. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { listCoins, type SwitchbackDesign } from './design.ts';
import { RandomizationTests } from './estimate.ts';
import { drawPlan } from './plan-units.ts';
import { listReferencePlans } from './reference.ts';

type Outcome = { unit: number; value: number };

/** Every plan of the design, from its definition: each coin sends its blocks one way or the other. */
function listAllPlans(design: SwitchbackDesign): number[][] {
  let plans: number[][] = [new Array(design.units).fill(0)];
  for (const { first, second } of listCoins(design))
    plans = plans.flatMap((plan) => [
      plan.map((side, unit) => (first.includes(unit) ? 1 : second.includes(unit) ? 0 : side)),
      plan.map((side, unit) => (first.includes(unit) ? 0 : second.includes(unit) ? 1 : side)),
    ]);
  return plans;
}

/** Units whose own and m earlier sides are equal; the control serves before the plan. */
const countsIn = (plan: readonly number[], unit: number, m: number) =>
  Array.from({ length: m }, (_, back) => plan[unit - 1 - back] ?? 0).every((side) => side === plan[unit]);

/** Student's t of unequal variances, in two passes. */
function computeWelch(plan: readonly number[], outcomes: readonly Outcome[], m: number) {
  const sides = [0, 1].map((side) =>
    outcomes.filter(({ unit }) => plan[unit] === side && countsIn(plan, unit, m)).map(({ value }) => value),
  );
  if (sides.some((values) => values.length < 2)) return null;
  const [control, candidate] = sides.map((values) => {
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance =
      values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1) / values.length;
    return { average, variance };
  });
  const difference = (candidate?.average ?? 0) - (control?.average ?? 0);
  const error = Math.sqrt((candidate?.variance ?? 0) + (control?.variance ?? 0));
  return { difference, error, t: difference / error };
}

/** A plan has a verdict with ten counted units, two of them on each side. */
function hasEnough(plan: readonly number[], m: number): boolean {
  const counted = plan.filter((_, unit) => countsIn(plan, unit, m));
  const candidates = counted.filter((side) => side === 1).length;
  return counted.length >= 10 && Math.min(candidates, counted.length - candidates) >= 2;
}

function bruteForce(design: SwitchbackDesign, real: readonly number[], outcomes: readonly Outcome[]) {
  const m = design.carryOverUnits;
  const plans = listAllPlans(design).filter((plan) => !hasEnough(real, m) || hasEnough(plan, m));
  const observed = computeWelch(real, outcomes, m);
  const distances = plans.flatMap((plan) => {
    const found = computeWelch(plan, outcomes, m);
    return found ? [Math.abs(found.t)] : [];
  });
  if (!observed) return null;
  const p_value = distances.filter((t) => t >= Math.abs(observed.t) - 1e-9).length / distances.length;
  const limit = distances.sort((a, b) => b - a)[Math.floor(0.05 * distances.length)] ?? Number.NaN;
  return {
    ...observed,
    p_value,
    low: observed.difference - limit * observed.error,
    high: observed.difference + limit * observed.error,
  };
}

function estimate(design: SwitchbackDesign, real: Uint8Array, outcomes: readonly Outcome[]) {
  const coins = listCoins(design);
  const reference = listReferencePlans(coins, real, design.carryOverUnits, { seed: 'seed' });
  const found = new RandomizationTests(reference, { unitMinutes: design.unitMinutes, coins }).estimateEffect({
    units: outcomes.map(({ unit }) => unit),
    outcomes: Float64Array.from(outcomes, ({ value }) => value),
    tolerance: 0,
  });
  return { found, reference };
}

/** Outcomes without rhythm or trend, so that the analysis adjusts for nothing: noise, and an effect of the candidate. */
function drawOutcomes(plan: Uint8Array, seed: string, effect: number): Outcome[] {
  const generator = new RandomGenerator(`outcomes ${seed}`);
  return Array.from(plan, (side, unit) => ({ unit, value: generator.normal() + effect * side }));
}

const DESIGNS: SwitchbackDesign[] = [
  { kind: 'independent', carryOverUnits: 0, units: 10, unitMinutes: 60 },
  { kind: 'independent', carryOverUnits: 0, units: 6, unitMinutes: 60 },
  { kind: 'independent', carryOverUnits: 1, units: 12, unitMinutes: 60 },
  { kind: 'blocked', carryOverUnits: 0, units: 20, unitMinutes: 60 },
  { kind: 'blocked', carryOverUnits: 1, units: 24, unitMinutes: 60 },
  { kind: 'blocked', carryOverUnits: 2, units: 30, unitMinutes: 60 },
  { kind: 'regular', carryOverUnits: 2, units: 20, unitMinutes: 60 },
];

describe.each(DESIGNS)('$kind, carry-over $carryOverUnits, $units units', (design) => {
  test('p-value, estimate and interval agree with a list of every plan', () => {
    let compared = 0;
    for (let seed = 0; seed < 12; seed += 1) {
      const real = drawPlan(design, `plan ${seed}`);
      const outcomes = drawOutcomes(real, `${seed}`, seed % 3);
      // Units without an outcome.
      if (seed % 4 === 1) outcomes.splice(2, 1);
      const { found, reference } = estimate(design, real, outcomes);
      expect(reference.method).toBe('exact');
      if (found === null || found.covariates.length > 0) continue;
      const expected = bruteForce(design, [...real], outcomes);
      expect(found.p_value).toBeCloseTo(expected?.p_value ?? Number.NaN, 12);
      expect(found.effect).toBeCloseTo(expected?.difference ?? Number.NaN, 10);
      expect(found.interval?.low).toBeCloseTo(expected?.low ?? Number.NaN, 8);
      expect(found.interval?.high).toBeCloseTo(expected?.high ?? Number.NaN, 8);
      // The interval excludes 0 exactly when the test finds a difference at 5 %.
      const excludesZero = (found.interval?.low ?? 0) > 0 || (found.interval?.high ?? 0) < 0;
      expect(excludesZero).toBe(found.p_value <= 0.05);
      compared += 1;
    }
    expect(compared).toBeGreaterThanOrEqual(4);
  });
});

test('drawn plans give the p-value of the list of every plan, within the error of 10,000 draws', () => {
  const design = { kind: 'independent', carryOverUnits: 0, units: 14, unitMinutes: 60 } as const;
  const real = drawPlan(design, 'drawn');
  // Noise in which the analysis sees no trend, which the list of plans does not know.
  const [outcomes = []] = Array.from({ length: 10 }, (_, seed) => drawOutcomes(real, `${seed}`, 1.2)).filter(
    (drawn) => estimate(design, real, drawn).found?.covariates.length === 0,
  );
  const { found, reference } = estimate(design, real, outcomes);
  expect(found?.covariates).toEqual([]);
  expect([reference.method, reference.plans.count]).toEqual(['draws', 10_000]);
  const expected = bruteForce(design, [...real], outcomes)?.p_value ?? Number.NaN;
  const standardError = Math.sqrt((expected * (1 - expected)) / 10_000);
  expect(Math.abs((found?.p_value ?? Number.NaN) - expected)).toBeLessThan(4 * standardError + 1e-4);
});

test('a trend is removed as simple regression does, and the effect is corrected for its part in the trend', () => {
  const design = { kind: 'blocked', carryOverUnits: 1, units: 24, unitMinutes: 60 } as const;
  const real = drawPlan(design, 'trend');
  const outcomes = drawOutcomes(real, 'trend', 0).map(({ unit, value }) => ({
    unit,
    value: 3 * unit + 0.2 * value + 5 * (real[unit] ?? 0),
  }));
  const { found } = estimate(design, real, outcomes);
  expect(found?.covariates).toEqual(['trend']);
  const regress = (values: readonly number[]) => {
    const middle = (values.length - 1) / 2;
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    const slope =
      values.reduce((sum, value, x) => sum + (x - middle) * (value - average), 0) /
      values.reduce((sum, _, x) => sum + (x - middle) ** 2, 0);
    return values.map((value, x) => value - average - slope * (x - middle));
  };
  const residuals = regress(outcomes.map(({ value }) => value)).map((value, unit) => ({ unit, value }));
  const sides = regress([...real]).map((value, unit) => ({ unit, value }));
  const plan = [...real];
  const effect =
    (computeWelch(plan, residuals, 1)?.difference ?? 0) / (computeWelch(plan, sides, 1)?.difference ?? 1);
  expect(found?.effect).toBeCloseTo(effect, 10);
  // The true effect is 5, and a unit has a standard deviation of 0.2.
  expect(Math.abs(effect - 5)).toBeLessThan(0.5);
});

test('T1: equal outcomes have no effect, a p-value of 1 and no interval', () => {
  const design = { kind: 'blocked', carryOverUnits: 1, units: 24, unitMinutes: 60 } as const;
  const real = drawPlan(design, 'equal');
  const outcomes = Array.from(real, (_, unit) => ({ unit, value: 0 }));
  expect(estimate(design, real, outcomes).found).toMatchObject({
    effect: 0,
    p_value: 1,
    interval: null,
    carry_over_p_value: 1,
  });
});

test('the carry-over test finds an influence that lasts longer than carry_over_units, and no shorter one', () => {
  const design = { kind: 'independent', carryOverUnits: 0, units: 60, unitMinutes: 60 } as const;
  const real = drawPlan(design, 'influence');
  const before = (unit: number) => (unit === 0 ? 0 : (real[unit - 1] ?? 0));
  const outcomes = drawOutcomes(real, 'influence', 3).map(({ unit, value }) => ({
    unit,
    value: value - 3 * before(unit),
  }));
  expect(estimate(design, real, outcomes).found?.carry_over_p_value).toBeLessThan(0.01);
  const longer = { ...design, carryOverUnits: 1 };
  expect(estimate(longer, real, outcomes).found?.carry_over_p_value).toBeGreaterThan(0.05);
});
