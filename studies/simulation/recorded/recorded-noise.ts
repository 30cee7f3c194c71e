/** The noise of real solvers: runs of equal models with other seeds, which record.py has recorded. */
import { mean } from '@switchyard/server/experiments/statistics/numbers.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import variability from './variability.json' with { type: 'json' };

/** The work of each run, by solver and model. */
const RECORDED: Record<string, Record<string, number[]>> = variability;

/** Returns a function that draws a run of any model, as a share above the mean of its model. */
export function createRecordedNoise(solver: 'highs' | 'cp-sat' | 'scip') {
  const shares = Object.values(RECORDED[solver] ?? {}).flatMap((runs) =>
    runs.map((work) => work / mean(runs) - 1),
  );
  if (shares.length === 0) throw new Error(`No runs of ${solver} are recorded.`);
  return (generator: RandomGenerator) => shares[generator.integerBelow(shares.length)] ?? 0;
}
