/** Distributions of the noise of one run, as a share of its value, with a standard deviation of about 5 %. */
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { createRecordedNoise } from './recorded/recorded-noise.ts';

export const NOISE_DISTRIBUTIONS = {
  normal: (generator: RandomGenerator) => 0.05 * generator.normal(),
  /** Skewed: mostly a little below 0, sometimes far above. */
  lognormal: (generator: RandomGenerator) => 0.04 * (Math.exp(generator.normal()) - Math.exp(0.5)) * 0.6,
  /** Student's t with 2 degrees of freedom: no variance at all. */
  heavy: (generator: RandomGenerator) =>
    (0.03 * generator.normal()) / Math.sqrt(-Math.log(generator.uniform())),
  /** Three quarters of the runs have none, so that more than half of equal pairs tie. */
  ties: (generator: RandomGenerator) => (generator.uniform() < 0.75 ? 0 : 0.1 * generator.normal()),
  /** The work of real solvers with other seeds, with standard deviations above 5 %. */
  HiGHS: createRecordedNoise('highs'),
  'CP-SAT': createRecordedNoise('cp-sat'),
  SCIP: createRecordedNoise('scip'),
};
export type Noise = keyof typeof NOISE_DISTRIBUTIONS;
/** The distributions in the order of the tables. */
export const NOISES = Object.keys(NOISE_DISTRIBUTIONS).filter(
  (name): name is Noise => name in NOISE_DISTRIBUTIONS,
);
