/** Tables of interactions with features of the inputs: wrong hints at a dependence that is none, and dependences found. */

import { RandomGenerator } from '../../random-generator.ts';
import { DEFAULT_INDICATOR } from '../results/select-indicators.ts';
import { Resampler } from '../statistics/bootstrap.ts';
import { FINAL_ALPHA } from '../statistics/error-rates.ts';
import { describeInteractions } from '../statistics/features/interactions.ts';
import type { Observation } from '../statistics/observations.ts';
import { NOISE_DISTRIBUTIONS, type Noise } from './noise.ts';
import { buildSimulatedRun, INDICATOR, type SimulatedRuns } from './paired-populations.ts';
import type { SimulationRow, SimulationTable } from './table-rows.ts';

/** Rules by which the inputs and their effects are drawn. Shares and effects are relative: 0.05 is 5 %. */
interface FeaturePopulation {
  noise?: Noise;
  /** The effect on every input. */
  effect?: number;
  /** The effect on inputs above the median size, instead of that on every input. */
  largeEffect?: number;
  /** Standard deviation of the effect between inputs. */
  interaction?: number;
  /** Factor of the noise on inputs below the median size. */
  smallNoise?: number;
  /** Factor of the noise in the rare region, which has a sixth of the inputs. */
  rareNoise?: number;
  /** Share of inputs that tie. */
  tieShare?: number;
  /** Share of inputs on which the candidate fails. */
  failureShare?: number;
  /** Depots with effects of their own; every depot is in one region. */
  depots?: { count: number; deviation: number };
}

const FEATURES = ['/size', '/region', '/weekday'];
const WEEKDAYS = 7;
const REGIONS = ['north', 'north', 'north', 'south', 'south', 'east'];
const RARE_REGION = 'east';
const RESAMPLES = 39;

/** An input with its features. */
interface FeatureInput {
  size: number;
  isLarge: boolean;
  region: string;
  /** null without depots. */
  depot: number | null;
  labels: Pick<Observation, 'input_id' | 'repetition' | 'position' | 'content' | 'clusters' | 'features'>;
}

function drawInput(
  { depots }: FeaturePopulation,
  position: number,
  generator: RandomGenerator,
): FeatureInput {
  const logarithm = generator.normal();
  const depot = depots ? position % depots.count : null;
  const region =
    REGIONS[depot === null ? generator.integerBelow(REGIONS.length) : depot % REGIONS.length] ?? '';
  const size = 100 * Math.exp(logarithm);
  const clusters: Record<string, string> = depot === null ? {} : { depot: `depot-${depot}` };
  const features = {
    '/size': size,
    '/region': region,
    '/weekday': `day ${generator.integerBelow(WEEKDAYS)}`,
  };
  const labels = {
    input_id: `input-${position}`,
    repetition: 0,
    position,
    content: null,
    clusters,
    features,
  };
  return { size, isLarge: logarithm > 0, region, depot, labels };
}

/** Draws one run of both sides on each input. */
function drawRuns(population: FeaturePopulation, count: number, generator: RandomGenerator): SimulatedRuns {
  const { depots, effect = 0, largeEffect = effect, interaction = 0, failureShare = 0 } = population;
  const depotEffects = Array.from(
    { length: depots?.count ?? 0 },
    () => (depots?.deviation ?? 0) * generator.normal(),
  );
  const runs: SimulatedRuns = { control: [], candidate: [] };
  for (let position = 0; position < count; position += 1) {
    const input = drawInput(population, position, generator);
    const own = interaction * generator.normal() + (depotEffects[input.depot ?? -1] ?? 0);
    const change = 1 + (input.isLarge ? largeEffect : effect) + own;
    const [control, candidate] = drawValues(population, input, generator);
    const fails = generator.uniform() < failureShare;
    runs.control.push(buildRun('control', control, input));
    runs.candidate.push(buildRun('candidate', fails ? null : candidate * change, input));
  }
  return runs;
}

function buildRun(side: string, value: number | null, { labels }: FeatureInput): Observation {
  return buildSimulatedRun(side, value === null ? null : [{ name: INDICATOR, value }], labels);
}

function drawValues(
  { noise = 'normal', smallNoise = 1, rareNoise = 1, tieShare = 0 }: FeaturePopulation,
  { size, region, isLarge }: FeatureInput,
  generator: RandomGenerator,
): [control: number, candidate: number] {
  const factor = (isLarge ? 1 : smallNoise) * (region === RARE_REGION ? rareNoise : 1);
  const draw = () => size * Math.max(0.001, 1 + factor * NOISE_DISTRIBUTIONS[noise](generator));
  const control = draw();
  const candidate = draw();
  return generator.uniform() < tieShare ? [control, control] : [control, candidate];
}

/** Returns the share of experiments that hint at a dependence of the effect on any of three features. */
function simulateHints(population: FeaturePopulation, inputs: number, experiments: number): number {
  let hints = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const seed = `experiment ${experiment}`;
    const runs = drawRuns(population, inputs, new RandomGenerator(seed));
    const indicator = {
      ...DEFAULT_INDICATOR,
      indicator: INDICATOR,
      role: 'primary',
      direction: 'minimize',
    } as const;
    const [[interactions = []] = []] = describeInteractions(
      { groups: [runs], indicators: [indicator], features: FEATURES },
      {
        serial: false,
        clusterings: population.depots ? ['depot'] : [],
        resampler: new Resampler({ seed, resamples: RESAMPLES }),
      },
    );
    if (interactions.some(({ p_value_holm }) => p_value_holm !== null && p_value_holm <= FINAL_ALPHA))
      hints += 1;
  }
  return hints / experiments;
}

const SIZES = [20, 50, 100] as const;

function buildHintRow(name: string, population: FeaturePopulation): SimulationRow {
  return {
    name,
    cells: SIZES.map((inputs) => (experiments: number) => simulateHints(population, inputs, experiments)),
  };
}

/** Both tables; each experiment has three features. */
export const INTERACTION_TABLES: readonly SimulationTable[] = [
  {
    id: 'interaction-level',
    title: 'Features without influence: a hint that the effect depends on any of three',
    shows: 'wrong',
    columns: SIZES.map(String),
    rows: [
      buildHintRow('normal noise', {}),
      buildHintRow('heavy tails', { noise: 'heavy' }),
      buildHintRow('5 % worse everywhere', { effect: 0.05 }),
      buildHintRow('effects that spread by 5 %, unrelated to the features', { interaction: 0.05 }),
      buildHintRow('small inputs have four times the noise', { smallNoise: 4 }),
      buildHintRow('a rare region has four times the noise', { rareNoise: 4 }),
      buildHintRow('80 % tie', { tieShare: 0.8 }),
      buildHintRow('fails on 20 % at random', { failureShare: 0.2 }),
      buildHintRow('depots with effects of their own, 10 %, in clusters', {
        depots: { count: 18, deviation: 0.1 },
      }),
    ],
  },
  {
    id: 'interaction-power',
    title: 'The candidate is better on large inputs alone: a hint',
    shows: 'power',
    columns: SIZES.map(String),
    rows: [
      buildHintRow('5 % better', { largeEffect: -0.05 }),
      buildHintRow('10 % better', { largeEffect: -0.1 }),
      buildHintRow('10 % better, heavy tails', { largeEffect: -0.1, noise: 'heavy' }),
    ],
  },
];
