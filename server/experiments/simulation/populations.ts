/**
 * Simulated experiments with a known effect, which measure how often verdicts are right (simulate-comparisons.ts). Inputs
 * differ a lot from each other, like the sizes of optimisation problems. A candidate multiplies the control's value by
 * 1 + effect, and each run of either side has independent noise.
 */
import type { Observation } from '../statistics/observations.ts';
import { RandomGenerator } from '../statistics/random-generator.ts';
import type { PlanUnit } from '../statistics/randomization.ts';

/** Distributions of the noise of one run, as a share of its input's value. The standard deviation is about 5 %. */
export const NOISE_DISTRIBUTIONS = {
  normal: (generator: RandomGenerator) => 0.05 * generator.normal(),
  /** Skewed: mostly a little below, sometimes far above. */
  lognormal: (generator: RandomGenerator) => 0.04 * (Math.exp(generator.normal()) - Math.exp(0.5)) * 0.6,
  /** Student's t with 2 degrees of freedom, whose variance is infinite. */
  heavy: (generator: RandomGenerator) =>
    (0.03 * generator.normal()) / Math.sqrt(-Math.log(generator.uniform())),
  /** Three quarters of the runs have no noise, so that more than half of equal pairs tie. */
  ties: (generator: RandomGenerator) => (generator.uniform() < 0.75 ? 0 : 0.1 * generator.normal()),
};
/** The name of a distribution of noise. */
export type Noise = keyof typeof NOISE_DISTRIBUTIONS;

/** The properties of a simulated experiment. */
export interface Population {
  noise: Noise;
  /** The relative difference of the candidate from the control. */
  effect: number;
  repetitions: number;
}

/** The indicator that every simulated run reports. */
export const INDICATOR = 'result.value';

function run(instance_id: string, input_id: string, repetition: number, value: number): Observation {
  return {
    instance_id,
    version_id: 'v1',
    input_id,
    option_set: null,
    scenario_id: null,
    repetition,
    status: 'succeeded',
    indicators: [{ name: INDICATOR, value }],
  };
}

/** Returns the runs of a batch experiment of a control and a candidate. */
export function drawBatch({ noise, effect, repetitions }: Population, inputs: number, seed: string) {
  const generator = new RandomGenerator(seed);
  const control: Observation[] = [];
  const candidate: Observation[] = [];
  for (let input = 0; input < inputs; input += 1) {
    const id = `input-${input}`;
    const size = 100 * Math.exp(0.5 * generator.normal());
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const value = (factor: number) => size * factor * (1 + NOISE_DISTRIBUTIONS[noise](generator));
      control.push(run('control', id, repetition, value(1)));
      candidate.push(run('candidate', id, repetition, value(1 + effect)));
    }
  }
  return { control, candidate };
}

/** Returns the units of a switchback test, with equal chances for both sides, a slow wave, and `repetitions` runs each. */
export function drawSwitchback(
  { noise, effect, repetitions }: Population,
  units: number,
  seed: string,
): PlanUnit[] {
  const generator = new RandomGenerator(seed);
  return Array.from({ length: units }, (_, index) => {
    const candidate = generator.bits() >= 2 ** 31;
    const level = 100 * (1 + 0.05 * Math.sin(index / 3)) * (candidate ? 1 + effect : 1);
    const instance_id = candidate ? 'candidate' : 'control';
    const runs = Array.from({ length: repetitions }, (_, repetition) =>
      run(instance_id, `unit-${index}`, repetition, level * (1 + NOISE_DISTRIBUTIONS[noise](generator))),
    );
    return { index, instance_id, runs };
  });
}
