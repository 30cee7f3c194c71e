/**
 * Simulated batch and shadow experiments with a known truth. A population draws a size and an effect of the candidate for
 * each input, and noise for each run. Runs may fail, inputs may depend on each other, and contents may repeat.
 */

import type { Observation } from '@switchyard/server/experiments/statistics/observations.ts';
import { SIMILAR_CONTENT } from '@switchyard/server/experiments/statistics/paired/relation.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { NOISE_DISTRIBUTIONS, type Noise } from './noise.ts';

export const INDICATOR = 'result.value';

/** Rules by which one simulated experiment is drawn. Shares and effects are relative: 0.05 is 5 %. */
export interface PairedPopulation {
  /** Median of the sizes; 100 by default. */
  size?: number;
  /** The largest value of both sides, such as a time limit. */
  limit?: number;
  /** `none`: the runs differ by the effects alone. */
  noise?: Noise | 'none';
  /** Standard deviation of the logarithm of input sizes; 0.5 by default, 1.5 for sizes over two orders of magnitude. */
  sizeSpread?: number;
  /** This share of the inputs is so many times as large as the others, and has so much higher effects. */
  largeInputs?: { share: number; factor: number; effect?: number };
  /** The candidate's values are (1 + effect) times as large on every input. */
  effect?: number;
  /** Standard deviation of the effect between inputs. */
  interaction?: number;
  /** Effects of classes of inputs, of which each is equally frequent. */
  classes?: readonly number[];
  /** The noise of the candidate is so many times as large as that of the control. */
  candidateSpread?: number;
  /** Draws the effect of an input by itself, without noise. */
  drawEffect?: (generator: RandomGenerator) => number;
  /** Share of inputs on which the candidate fails. */
  failureShare?: number;
  /** The effect that those inputs would have had. */
  failureEffect?: number;
  /** The candidate fails on every input with an effect above this. */
  failsAbove?: number;
  /**
   * The candidate fails on every input with an effect above this, and the control on every one below its negative. The
   * other inputs have no effect. Effects that depend on each other then make failures that do.
   */
  failsBeyond?: number;
  /** AR(1) effects over time: correlation of neighbours, and standard deviation. */
  serial?: { correlation: number; deviation: number };
  /** Stretches of consecutive inputs, such as those of one day, with effects of their own. */
  stretches?: { length: number; deviation: number };
  /** Callers with effects of their own. */
  callers?: { count: number; deviation: number };
  /** How often each content is sent. */
  copies?: number;
  /**
   * Inputs are versions of others: each shares its effect and its size with `count` inputs, or with half to one and a half as
   * many if the numbers are `mixed`. Sizes of versions differ by `change`. In `turn`, `count` is the number of bases, of which
   * each has a version after the other. With `compared`, the contents have shown the groups.
   */
  versions?: { count: number; change: number; mixed?: boolean; turn?: boolean; compared?: boolean };
}

/** The runs of both sides of one simulated experiment. */
export interface SimulatedRuns {
  control: Observation[];
  candidate: Observation[];
}

/** Draws an experiment with this many inputs, counting copies, and repetitions. */
export function drawPairedRuns(
  population: PairedPopulation,
  { inputs, repetitions }: { inputs: number; repetitions: number },
  generator: RandomGenerator,
): SimulatedRuns {
  const runs: SimulatedRuns = { control: [], candidate: [] };
  const { copies = 1, callers, noise = 'normal', candidateSpread = 1 } = population;
  const { limit = Number.POSITIVE_INFINITY } = population;
  const callerEffects = Array.from(
    { length: callers?.count ?? 0 },
    () => (callers?.deviation ?? 0) * generator.normal(),
  );
  const nextEffect = createEffectSource(population, generator);
  const nextBase = createBaseSource(population, nextEffect, generator);
  const drawNoise = () =>
    population.drawEffect || noise === 'none' ? 0 : NOISE_DISTRIBUTIONS[noise](generator);
  for (let content = 0; content < Math.round(inputs / copies); content += 1) {
    const { size, effect: own, base } = nextBase();
    const caller = callers ? generator.integerBelow(callers.count) : null;
    const { effect, fails, controlFails } = decideFailure(
      population,
      own + (callerEffects[caller ?? -1] ?? 0),
      generator,
    );
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const control = Math.min(limit, size * Math.max(0.001, 1 + drawNoise()));
      const candidate = Math.min(
        limit,
        size * (1 + effect) * Math.max(0.001, 1 + candidateSpread * drawNoise()),
      );
      for (let copy = 0; copy < copies; copy += 1) {
        const shared = {
          input_id: `input-${content}-${copy}`,
          repetition,
          position: content * copies + copy,
          content: copies > 1 ? `content-${content}` : null,
          clusters: nameClusters(caller, population.versions?.compared ? base : null),
        };
        runs.control.push(
          buildSimulatedRun('control', controlFails ? null : [{ name: INDICATOR, value: control }], shared),
        );
        runs.candidate.push(
          buildSimulatedRun('candidate', fails ? null : [{ name: INDICATOR, value: candidate }], shared),
        );
      }
    }
  }
  return runs;
}

function nameClusters(caller: number | null, group: number | null): Record<string, string> {
  return {
    ...(caller === null ? {} : { caller: `caller-${caller}` }),
    ...(group === null ? {} : { [SIMILAR_CONTENT]: `${group}` }),
  };
}

/** An input before its runs: its size, its effect, and the number of the input that it is a version of. */
interface DrawnBase {
  size: number;
  effect: number;
  base: number;
}

function createBaseSource(
  { size: medianSize = 100, sizeSpread = 0.5, largeInputs, versions }: PairedPopulation,
  nextEffect: () => number,
  generator: RandomGenerator,
): () => DrawnBase {
  let count = 0;
  const drawBase = (): DrawnBase => {
    const large = largeInputs && generator.uniform() < largeInputs.share ? largeInputs : undefined;
    const size = medianSize * (large?.factor ?? 1) * Math.exp(sizeSpread * generator.normal());
    return { size, effect: nextEffect() + (large?.effect ?? 0), base: count++ };
  };
  if (!versions) return drawBase;
  const change = (base: DrawnBase) => ({
    ...base,
    size: base.size * Math.exp(versions.change * generator.normal()),
  });
  if (versions.turn) {
    const bases = Array.from({ length: versions.count }, drawBase);
    let turn = 0;
    return () => change(bases[turn++ % bases.length] ?? drawBase());
  }
  let base = drawBase();
  let left = 0;
  return () => {
    if (left === 0) {
      base = drawBase();
      const half = Math.floor(versions.count / 2);
      left = versions.mixed ? versions.count - half + generator.integerBelow(2 * half + 1) : versions.count;
    }
    left -= 1;
    return change(base);
  };
}

function createEffectSource(population: PairedPopulation, generator: RandomGenerator): () => number {
  const { effect = 0, interaction = 0, drawEffect, classes } = population;
  const nextSerial = createSerialSource(population, generator);
  return () => {
    if (drawEffect) return drawEffect(generator);
    const own = classes?.[generator.integerBelow(classes.length)] ?? 0;
    return effect + own + interaction * generator.normal() + nextSerial();
  };
}

/** Returns the part of an effect that depends on the time of the input. */
function createSerialSource(
  { serial, stretches }: PairedPopulation,
  generator: RandomGenerator,
): () => number {
  let state = generator.normal();
  let position = 0;
  return () => {
    const current = (serial ?? stretches)?.deviation ?? 0;
    const value = current * state;
    position += 1;
    if (serial)
      state = serial.correlation * state + Math.sqrt(1 - serial.correlation ** 2) * generator.normal();
    if (stretches && position % stretches.length === 0) state = generator.normal();
    return value;
  };
}

function decideFailure(
  { failureShare = 0, failureEffect, failsAbove, failsBeyond }: PairedPopulation,
  effect: number,
  generator: RandomGenerator,
): { effect: number; fails: boolean; controlFails?: boolean } {
  if (failsBeyond !== undefined)
    return { effect: 0, fails: effect > failsBeyond, controlFails: effect < -failsBeyond };
  if (failsAbove !== undefined && effect > failsAbove) return { effect, fails: true };
  const fails = failureShare > 0 && generator.uniform() < failureShare;
  return { effect: fails ? (failureEffect ?? effect) : effect, fails };
}

/** Builds a run; its indicators are null for one that failed. */
export function buildSimulatedRun(
  instance_id: string,
  indicators: Observation['indicators'] | null,
  shared: Pick<Observation, 'input_id' | 'repetition' | 'position' | 'content' | 'clusters' | 'features'>,
): Observation {
  return {
    instance_id,
    version_id: 'v1',
    option_set: null,
    scenario_id: null,
    status: indicators === null ? 'failed' : 'succeeded',
    indicators: indicators ?? [],
    ...shared,
  };
}
