/**
 * Measures the coverage of 95 % intervals of a mean, for the methods that bootstrap.ts chose from:
 *
 *     node server/experiments/simulation/interval-coverage.ts [samples in each cell, 2000 by default]
 *
 * A sample is one value for each input, like the differences of a comparison. The same call prints the same numbers,
 * because the seeds are fixed.
 */
import {
  drawStudentizedErrors,
  estimateMeanInterval,
  INTERVAL_INPUTS_MIN,
  type Interval,
  Resampler,
} from '../statistics/bootstrap.ts';
import { mean, standardDeviation, studentTQuantile975 } from '../statistics/numbers.ts';
import { RandomGenerator } from '../statistics/random-generator.ts';

/** Distributions with their true means. */
const DISTRIBUTIONS: Record<string, { mean: number; draw: (generator: RandomGenerator) => number }> = {
  normal: { mean: 0, draw: (generator) => generator.normal() },
  lognormal: { mean: Math.exp(0.5), draw: (generator) => Math.exp(generator.normal()) },
  'lognormal, less skewed': { mean: Math.exp(0.125), draw: (generator) => Math.exp(generator.normal() / 2) },
  'difference of lognormals': {
    mean: 0,
    draw: (generator) => Math.exp(generator.normal()) - Math.exp(generator.normal()),
  },
  'half of them 0': {
    mean: Math.exp(0.125) / 2,
    draw: (generator) => (generator.uniform() < 0.5 ? 0 : Math.exp(generator.normal() / 2)),
  },
};

const RESAMPLES = 999;

/** Returns the percentile bootstrap: the middle 95 % of the means of resamples. */
function estimatePercentile(values: Float64Array, seed: string): Interval {
  const generator = new RandomGenerator(seed);
  const count = values.length;
  const means = new Float64Array(RESAMPLES);
  for (let draw = 0; draw < RESAMPLES; draw += 1) {
    let total = 0;
    for (let index = 0; index < count; index += 1) total += values[generator.integerBelow(count)] ?? 0;
    means[draw] = total / count;
  }
  means.sort();
  return { low: means[24] ?? 0, high: means[974] ?? 0 };
}

/** Returns the interval of Student's t. */
function estimateStudent(values: Float64Array): Interval {
  const reach =
    (studentTQuantile975(values.length - 1) * standardDeviation(values)) / Math.sqrt(values.length);
  return { low: mean(values) - reach, high: mean(values) + reach };
}

/** Returns the studentized bootstrap alone. */
function estimateStudentized(values: Float64Array, seed: string): Interval {
  const centre = mean(values);
  const spread = standardDeviation(values) / Math.sqrt(values.length);
  const errors = values.map((value) => value - centre);
  const draws = drawStudentizedErrors(
    errors,
    null,
    0.2 * spread,
    new Resampler({ seed, resamples: RESAMPLES }),
  ).sort();
  return { low: centre - (draws[974] ?? 0) * spread, high: centre - (draws[24] ?? 0) * spread };
}

const METHODS: Record<string, (values: Float64Array, seed: string) => Interval | null> = {
  percentile: estimatePercentile,
  student: estimateStudent,
  studentized: estimateStudentized,
  hull: (values, seed) => estimateMeanInterval(values, new Resampler({ seed, resamples: RESAMPLES })),
};

/** Returns for each method the share of samples whose interval contains the true mean. */
export function measureCoverage(
  distribution: string,
  inputs: number,
  samples: number,
  methods = Object.keys(METHODS),
): Map<string, number> {
  const shares = new Map<string, number>();
  const population = DISTRIBUTIONS[distribution];
  if (!population) return shares;
  for (let sample = 0; sample < samples; sample += 1) {
    const generator = new RandomGenerator(`${distribution} ${sample}`);
    const values = Float64Array.from({ length: inputs }, () => population.draw(generator));
    for (const name of methods) {
      const interval = METHODS[name]?.(values, `${sample}`) ?? null;
      const covers = interval !== null && interval.low <= population.mean && population.mean <= interval.high;
      shares.set(name, (shares.get(name) ?? 0) + Number(covers) / samples);
    }
  }
  return shares;
}

function printCoverage(samples: number): void {
  console.log(
    `${'inputs  values'.padEnd(34)}${Object.keys(METHODS)
      .map((name) => name.padStart(12))
      .join('')}`,
  );
  for (const inputs of [INTERVAL_INPUTS_MIN, 10, 20, 50]) {
    for (const distribution of Object.keys(DISTRIBUTIONS)) {
      const shares = [...measureCoverage(distribution, inputs, samples).values()];
      const cells = shares.map((share) => `${(100 * share).toFixed(1)} %`.padStart(12)).join('');
      console.log(`${`${inputs}`.padEnd(8)}${distribution.padEnd(26)}${cells}`);
    }
  }
}

if (import.meta.main) printCoverage(Number(process.argv[2] ?? 2000));
