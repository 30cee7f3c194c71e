import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareUnits, type PlanUnit, type SwitchbackSettings } from './randomization.ts';

const SETTINGS: SwitchbackSettings = {
  objective: 'minimize',
  control_instance_id: 'prod',
  candidate_instance_id: 'new',
};

/** Returns a unit for each value or list of values. A text is the status of a run; `assigned` is 1 for the candidate. */
function plan(values: (number | (number | string)[])[], assigned: number[]): PlanUnit[] {
  return values.map((value, index) => {
    const instance_id = assigned[index] === 1 ? 'new' : 'prod';
    const runs = [value].flat().map((one) => ({
      instance_id,
      version_id: 'v1',
      input_id: '',
      option_set: null,
      scenario_id: null,
      repetition: null,
      status: typeof one === 'string' ? one : 'succeeded',
      indicators: typeof one === 'string' ? [] : [{ name: 'result.value', value: one }],
    }));
    return { index, instance_id, runs };
  });
}

const analyse = (units: PlanUnit[], settings: Partial<SwitchbackSettings> = {}) =>
  compareUnits(units, 'result.value', { ...SETTINGS, ...settings });

const EIGHT = [10, 12, 11, 14, 9, 15, 10.5, 13];
const EIGHT_ASSIGNED = [0, 1, 0, 1, 0, 1, 0, 1];
const TEN = [10, 12, 11, 14, 9, 15, 10.5, 13, 11, 12];
const TEN_ASSIGNED = [0, 1, 0, 1, 1, 1, 0, 0, 1, 0];

describe('the randomization test', () => {
  // By brute force in numpy 2.4.6: every assignment but the two one-sided ones. Bisection on the p-value of the values
  // minus a constant effect finds the ends of the interval.
  test.each([
    { values: EIGHT, assigned: EIGHT_ASSIGNED, difference: 3.375, p: 8 / 254, low: 1, high: 5.875 },
    { values: TEN, assigned: TEN_ASSIGNED, difference: 0.9, p: 506 / 1022, low: -2.0285714, high: 4 },
  ])('of $values matches brute force', ({ values, assigned, difference, p, low, high }) => {
    const found = analyse(plan(values, assigned));
    expect(found.mean_difference?.value).toBeCloseTo(difference, 12);
    expect(found.randomization).toMatchObject({ method: 'exact', assignments: 2 ** values.length - 2 });
    expect(found.randomization.p_value).toBeCloseTo(p, 12);
    expect(found.mean_difference?.interval?.low).toBeCloseTo(low, 6);
    expect(found.mean_difference?.interval?.high).toBeCloseTo(high, 6);
  });

  test('has similar p-values for different draws', () => {
    // Two copies of ten units make twenty, with 2^20 assignments.
    const values = [...TEN, ...TEN.map((value) => value + 0.25)];
    const assigned = [...TEN_ASSIGNED, ...TEN_ASSIGNED];
    const many = analyse(plan(values, assigned), { draws: 20_000 });
    expect(many.randomization).toMatchObject({ method: 'draws', assignments: 20_001 });
    const more = analyse(plan(values, assigned), { draws: 100_000, seed: 'other' });
    // Three standard errors of a share of 20,000 draws.
    expect(Math.abs((many.randomization.p_value ?? 0) - (more.randomization.p_value ?? 0))).toBeLessThan(
      0.012,
    );
    expect(analyse(plan(values, assigned), { draws: 20_000 })).toEqual(many);
  });

  test('has no p-value of zero with draws', () => {
    const assigned = Array.from({ length: 40 }, (_, index) => index % 2);
    const values = assigned.map((candidate, index) => (candidate ? 1000 : 1) + index / 100);
    const found = analyse(plan(values, assigned), { draws: 999 });
    expect(found.randomization.p_value).toBe(1 / 1000);
    expect(found.verdict).toBe('worse');
    expect(analyse(plan(values, assigned), { draws: 999, objective: 'maximize' }).verdict).toBe('better');
  });
});

describe('too few units', () => {
  test('have no estimate without units, without runs, or on one side only', () => {
    for (const units of [[], plan([[], []], [0, 1]), plan([1, 2, 3], [0, 0, 0])]) {
      const found = analyse(units);
      expect(found).toMatchObject({ verdict: 'undecided', mean_difference: null, more_units: null });
      expect(found.randomization).toMatchObject({ p_value: null, assignments: 0 });
    }
    expect(analyse(plan([1, 2, 3], [0, 0, 0])).warnings).toContain('The plan gives the candidate no unit.');
  });

  test('have a difference but neither interval nor verdict when there are two', () => {
    const found = analyse(plan([1, 3], [0, 1]));
    expect(found).toMatchObject({ verdict: 'undecided', mean_difference: { value: 2, interval: null } });
    expect(found.randomization.p_value).toBe(1);
  });

  test('have no verdict when there are eight, however clear the difference', () => {
    const found = analyse(plan([1, 2, 101, 102, 3, 103, 4, 104], [0, 0, 1, 1, 0, 1, 0, 1]));
    expect(found.randomization.p_value).toBeLessThan(0.05);
    expect(found.verdict).toBe('undecided');
    expect(found.reasons.join()).toContain('8 units');
  });

  test('have no verdict with one on a side, however many the other side has', () => {
    const assigned = Array.from({ length: 14 }, (_, index) => Number(index === 5));
    expect(
      analyse(
        plan(
          assigned.map((one) => one * 100 + 1),
          assigned,
        ),
      ).verdict,
    ).toBe('undecided');
  });
});

describe('units', () => {
  test('count once for any number of runs, and omit failed runs with a warning', () => {
    const units = plan([[1, 3], 10, [5, 'failed'], [20, 20, 20, 'canceled'], ['failed']], [0, 1, 0, 1, 0]);
    const found = analyse(units);
    expect(found.units.map(({ index, runs, mean }) => [index, runs, mean])).toEqual([
      [0, 2, 2],
      [1, 1, 10],
      [2, 1, 5],
      [3, 3, 20],
    ]);
    expect(found.control).toMatchObject({ units: { total: 3, usable: 2 }, mean: 3.5, runs: { failed: 2 } });
    expect(found.mean_difference?.value).toBe(11.5);
    expect(found.warnings.join(' ')).toContain('1 unit of 3 of the control');
    expect(found.warnings.join(' ')).toContain('carry-over');
  });

  test('of other instances do not count', () => {
    const units = plan([1, 5, 2, 6, 900], [0, 1, 0, 1, 0]);
    const other = units.map((unit) => (unit.index === 4 ? { ...unit, instance_id: 'other' } : unit));
    expect(analyse(other).mean_difference?.value).toBe(4);
    expect(analyse(other).units).toHaveLength(4);
  });

  test('with equal values are equivalent', () => {
    const found = analyse(plan([7, 7, 7, 7], [0, 1, 1, 0]));
    expect(found).toMatchObject({ verdict: 'equivalent', mean_difference: { value: 0 } });
    expect(found.randomization.p_value).toBe(1);
  });

  test('within the tolerance are equivalent', () => {
    const assigned = Array.from({ length: 16 }, (_, index) => Number(index % 4 > 1));
    const values = assigned.map((_, index) => 1000 + (index % 2) / 10);
    expect(analyse(plan(values, assigned)).verdict).toBe('equivalent');
    const strict = analyse(plan(values, assigned), { tolerance: { type: 'absolute', value: 0.001 } });
    expect(strict.verdict).toBe('undecided');
  });

  test('of the largest and smallest doubles have finite results', () => {
    const assigned = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
    for (const size of [Number.MAX_VALUE, 5e-324]) {
      const found = analyse(
        plan(
          assigned.map((one) => (one ? size : -size)),
          assigned,
        ),
      );
      const { value, interval } = found.mean_difference ?? {};
      expect([value, interval?.low, interval?.high].every(Number.isFinite)).toBe(true);
      expect(found.verdict).toBe('worse');
    }
  });
});

describe('any plan', () => {
  const units = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 1 })), {
    minLength: 10,
    maxLength: 12,
  });
  const strict = { tolerance: { type: 'absolute', value: 0.5 } } as const;

  test('mirrors the result of swapped sides, and its interval excludes 0 exactly when p is at most 0.05', () => {
    fc.assert(
      fc.property(units, (drawn) => {
        const values = drawn.map(([value]) => value);
        const assigned = drawn.map(([, candidate]) => candidate);
        const found = analyse(plan(values, assigned), strict);
        const swapped = analyse(
          plan(
            values,
            assigned.map((one) => 1 - one),
          ),
          strict,
        );
        expect(swapped.randomization.p_value).toBe(found.randomization.p_value);
        const mirror = { better: 'worse', worse: 'better', equivalent: 'equivalent', undecided: 'undecided' };
        expect(swapped.verdict).toBe(mirror[found.verdict]);
        const interval = found.mean_difference?.interval;
        if (interval) {
          const excludes = interval.low > 1e-9 || interval.high < -1e-9;
          expect(excludes).toBe((found.randomization.p_value ?? 1) <= 0.05);
        }
      }),
      { numRuns: 40 },
    );
  });
});
