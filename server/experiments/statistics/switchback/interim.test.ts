/** The confidence sequence of a switchback test holds at any look, and is the inversion of the test martingale. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { runTestMartingale } from '../comparison/interim.ts';
import type { DesignKind, SwitchbackDesign } from './design.ts';
import { computeEffectSequence, listIncrements } from './interim.ts';
import { drawPlan } from './plan-units.ts';

const EFFECT = 0.05;

/** Outcomes with a rhythm of the day, noise, and an effect on the units of the candidate. */
function drawOutcomes(assignment: Uint8Array, generator: RandomGenerator): Map<number, number> {
  return new Map(
    Array.from(assignment, (side, unit) => [
      unit,
      0.15 * Math.sin((unit / 12) * Math.PI) + 0.05 * generator.normal() + EFFECT * side,
    ]),
  );
}

const build = (kind: DesignKind, carryOverUnits: number, units: number): SwitchbackDesign => ({
  kind,
  carryOverUnits,
  units,
  unitMinutes: 60,
});

test.each([
  ['independent', 1],
  ['regular', 2],
] as const)(
  'the design %s with carry-over %i has no sequence: no unit counts whatever other coins say',
  (kind, carryOver) => {
    const design = build(kind, carryOver, 96);
    const assignment = drawPlan(design, kind);
    const outcomes = drawOutcomes(assignment, new RandomGenerator(kind));
    expect(computeEffectSequence(design, { assignment, outcomes, endedUnits: 96 }, 20)).toBeNull();
  },
);

describe.each([
  build('blocked', 1, 96),
  build('blocked', 0, 48),
  build('independent', 0, 60),
  build('blocked', 2, 96),
])('the design $kind with carry-over $carryOverUnits', (design) => {
  test('has ends at which the evidence is that of the threshold', () => {
    const assignment = drawPlan(design, 'ends');
    const outcomes = drawOutcomes(assignment, new RandomGenerator('ends'));
    const ended = { assignment, outcomes, endedUnits: design.units };
    const found = computeEffectSequence(design, ended, 20);
    const computeEvidence = (effect: number) => {
      const without = new Map(
        [...outcomes].map(([unit, outcome]) => [unit, outcome - effect * (assignment[unit] ?? 0)]),
      );
      const increments = listIncrements(design, assignment, without, design.units);
      return runTestMartingale(increments, { serial: false }).e_value;
    };
    for (const end of [found?.low ?? 0, found?.high ?? 0]) expect(computeEvidence(end)).toBeCloseTo(20, 5);
    expect(found?.low).toBeLessThan(EFFECT);
    expect(found?.high).toBeGreaterThan(EFFECT);
    const first = { ...ended, endedUnits: 9 };
    expect(computeEffectSequence(design, first, 20)).toBeNull();
  });

  test('excludes the true effect at some look in at most 5 % of tests', () => {
    const generator = new RandomGenerator('looks');
    const tests = 150;
    let wrong = 0;
    for (let run = 0; run < tests; run += 1) {
      const assignment = drawPlan(design, `plan ${run}`);
      const outcomes = drawOutcomes(assignment, generator);
      const isExcluded = (endedUnits: number) => {
        const found = computeEffectSequence(design, { assignment, outcomes, endedUnits }, 20);
        return found !== null && (found.low > EFFECT || found.high < EFFECT);
      };
      for (let units = 16; units <= design.units; units += 16)
        if (isExcluded(units)) {
          wrong += 1;
          break;
        }
    }
    // 5 % and three standard errors.
    expect(wrong / tests).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt((0.05 * 0.95) / tests));
  });
});
