/** Properties of comparisons that hold for any runs. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ABSOLUTE, buildSide, compareRuns } from '../../../testing/fixtures/paired-runs.ts';
import type { Observation } from '../observations.ts';

describe('any runs', () => {
  const value = fc.integer({ min: -40, max: 40 });
  const both = fc.array(fc.tuple(fc.array(value, { minLength: 2, maxLength: 2 }), value, value), {
    minLength: 8,
    maxLength: 25,
  });
  const settings = { ...ABSOLUTE, margin: { type: 'absolute', value: 3 } } as const;
  const MIRROR: Record<Comparison['verdict'], Comparison['verdict']> = {
    better: 'worse',
    worse: 'better',
    higher: 'lower',
    lower: 'higher',
    equivalent: 'equivalent',
    same: 'same',
    undecided: 'undecided',
  };

  test('have the same result in any order and scale, and the opposite verdict when swapped', () => {
    fc.assert(
      fc.property(
        both,
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: -20, max: 20 }),
        (drawn, shift, exponent) => {
          const control = buildSide(
            'prod',
            drawn.map(([values]) => values),
          );
          const candidate = buildSide(
            'new',
            drawn.map(([, one, other]) => [one + shift, other + shift]),
          );
          const found = compareRuns(control, candidate, settings, 199);
          expect(compareRuns(control.toReversed(), candidate.toReversed(), settings, 199)).toEqual(found);
          const swapped = compareRuns(candidate, control, settings, 199);
          expect(swapped.verdict).toBe(MIRROR[found.verdict]);
          expect(swapped.wilcoxon.p_value).toBe(found.wilcoxon.p_value);
          const factor = 2 ** exponent;
          const scale = (runs: Observation[]) =>
            runs.map((run) => ({
              ...run,
              indicators: run.indicators.map((one) => ({ ...one, value: Number(one.value) * factor })),
            }));
          const margin = { type: 'absolute', value: 3 * factor } as const;
          const larger = compareRuns(scale(control), scale(candidate), { ...settings, margin }, 199);
          expect(larger.verdict).toBe(found.verdict);
          expect(larger.wilcoxon.p_value).toBe(found.wilcoxon.p_value);
        },
      ),
      { numRuns: 40 },
    );
  });
});
