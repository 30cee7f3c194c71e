/**
 * Simulated batch and shadow experiments with a known truth. A population draws a size and an effect of the candidate for
 * each input, and noise for each run. Runs may fail, inputs may depend on each other, and contents may repeat.
 */

import type { RandomGenerator } from '../../random-generator.ts';
import type { Observation } from '../statistics/observations.ts';
import { NOISE_DISTRIBUTIONS, type Noise } from './noise.ts';

export const INDICATOR = 'result.value';

/** Rules by which one simulated experiment is drawn. Shares and effects are relative: 0.05 is 5 %. */
export interface PairedPopulation {
  /** `none`: the runs differ by the effects alone. */
  noise?: Noise | 'none';
  /** Standard deviation of the logarithm of input sizes; 0.5 by default, 1.5 for sizes over two orders of magnitude. */
  sizeSpread?: number;
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
  const callerEffects = Array.from(
    { length: callers?.count ?? 0 },
    () => (callers?.deviation ?? 0) * generator.normal(),
  );
  const nextEffect = createEffectSource(population, generator);
  const drawNoise = () =>
    population.drawEffect || noise === 'none' ? 0 : NOISE_DISTRIBUTIONS[noise](generator);
  for (let content = 0; content < Math.round(inputs / copies); content += 1) {
    const size = 100 * Math.exp((population.sizeSpread ?? 0.5) * generator.normal());
    const caller = callers ? generator.integerBelow(callers.count) : null;
    const { effect, fails, controlFails } = decideFailure(
      population,
      nextEffect() + (callerEffects[caller ?? -1] ?? 0),
      generator,
    );
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const control = size * Math.max(0.001, 1 + drawNoise());
      const candidate = size * (1 + effect) * Math.max(0.001, 1 + candidateSpread * drawNoise());
      for (let copy = 0; copy < copies; copy += 1) {
        const shared = {
          input_id: `input-${content}-${copy}`,
          repetition,
          position: content * copies + copy,
          content: copies > 1 ? `content-${content}` : null,
          clusters: nameClusters(caller),
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

function nameClusters(caller: number | null): Record<string, string> {
  return caller === null ? {} : { caller: `caller-${caller}` };
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
