/** The tables of races: how often the best configuration is dropped, and which share of the runs is saved. */

import {
  RACE_LARGEST_LOSS,
  type RaceInput,
  runRace,
} from '@switchyard/server/experiments/statistics/racing/race.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { NOISE_DISTRIBUTIONS, type Noise } from './noise.ts';
import { drawRareLoss, type SimulationRow, type SimulationTable } from './table-rows.ts';

const CONFIDENCE = 0.95;
const SIZES = [
  [5, 50],
  [40, 50],
  [40, 100],
] as const;
const columns = SIZES.map(([configurations, inputs]) => `${configurations} × ${inputs}`);

interface RacePopulation {
  /** `none`: the values differ by the effects alone. */
  noise: Noise | 'none';
  /** Values of a configuration are (1 + loss) times as large; the last configuration has the smallest loss. */
  computeLoss: (configuration: number, configurations: number) => number;
  /** Standard deviation of the effect of a configuration between inputs. */
  interaction: number;
  failureShare?: number;
  /** Draws the effects of the other configurations; the last one, which is the best, has none. */
  drawEffect?: (generator: RandomGenerator) => number;
}

/** The share of races in which the best configuration is dropped, and the share of runs that are saved. */
interface RaceShares {
  wrong: number;
  saved: number;
}

function simulateRaces(
  population: RacePopulation,
  [configurations, inputs]: (typeof SIZES)[number],
  races: number,
): RaceShares {
  const generator = new RandomGenerator(`races ${JSON.stringify(population)} ${configurations} ${inputs}`);
  const shares: RaceShares = { wrong: 0, saved: 0 };
  for (let race = 0; race < races; race += 1) {
    const outcomes = Array.from({ length: inputs }, () => drawInput(population, configurations, generator));
    const scale = {
      direction: 'minimize',
      measure: 'relative',
      tie_tolerance: 1e-9,
      shift: 0,
      largest_loss: RACE_LARGEST_LOSS,
      factor: 1,
    } as const;
    const { dropped } = runRace(
      outcomes,
      { confidence: CONFIDENCE, scale, configurations, inputs },
      { dropped: [], decided_inputs: 0 },
    );
    if (dropped.some(({ configuration }) => configuration === configurations - 1)) shares.wrong += 1 / races;
    for (const { after_inputs } of dropped)
      shares.saved += (inputs - after_inputs) / (configurations * inputs * races);
  }
  return shares;
}

function drawInput(
  { noise, computeLoss, interaction, failureShare = 0, drawEffect = () => 0 }: RacePopulation,
  configurations: number,
  generator: RandomGenerator,
): RaceInput {
  const size = 100 * Math.exp(generator.normal());
  return Array.from({ length: configurations }, (_, configuration) => {
    const loss = computeLoss(configuration, configurations) + interaction * generator.normal();
    const effect = configuration === configurations - 1 ? 0 : drawEffect(generator);
    const drawn = noise === 'none' ? 0 : NOISE_DISTRIBUTIONS[noise](generator);
    const value = size * Math.max(0.001, 1 + loss + effect) * Math.max(0.001, 1 + drawn);
    return generator.uniform() < failureShare ? { value: null, failed: 1 } : { value, failed: 0 };
  });
}

const POPULATIONS: readonly (readonly [name: string, population: RacePopulation])[] = [
  ['equal, normal noise', { noise: 'normal', computeLoss: () => 0, interaction: 0 }],
  ['equal, lognormal noise', { noise: 'lognormal', computeLoss: () => 0, interaction: 0 }],
  ['equal, heavy tails', { noise: 'heavy', computeLoss: () => 0, interaction: 0 }],
  ['equal, most runs tie', { noise: 'ties', computeLoss: () => 0, interaction: 0 }],
  ['equal, fail on 10 %', { noise: 'normal', computeLoss: () => 0, interaction: 0.02, failureShare: 0.1 }],
  [
    'the others -1 % on 95 %, +19 % on 5 %',
    { noise: 'none', computeLoss: () => 0, interaction: 0, drawEffect: drawRareLoss(0.05, -0.01, 0.19) },
  ],
  [
    'the others -2 % on 90 %, +18 % on 10 %',
    { noise: 'none', computeLoss: () => 0, interaction: 0, drawEffect: drawRareLoss(0.1, -0.02, 0.18) },
  ],
  [
    'the others -2 % on 98 %, +98 % on 2 %',
    { noise: 'none', computeLoss: () => 0, interaction: 0, drawEffect: drawRareLoss(0.02, -0.02, 0.98) },
  ],
  [
    'one is 2 % better',
    { noise: 'normal', computeLoss: (one, all) => (one === all - 1 ? 0 : 0.02), interaction: 0.02 },
  ],
  [
    'one is 5 % better',
    { noise: 'normal', computeLoss: (one, all) => (one === all - 1 ? 0 : 0.05), interaction: 0.02 },
  ],
  [
    'losses from 20 % to 0',
    { noise: 'normal', computeLoss: (one, all) => 0.2 * (1 - (one + 1) / all), interaction: 0.02 },
  ],
  [
    'losses from 100 % to 0',
    { noise: 'normal', computeLoss: (one, all) => 1 - (one + 1) / all, interaction: 0.02 },
  ],
];

function buildRows(share: keyof RaceShares): SimulationRow[] {
  return POPULATIONS.map(([name, population]) => ({
    name,
    cells: SIZES.map((size) => (races) => simulateRaces(population, size, races)[share]),
  }));
}

export const RACING_TABLES: readonly SimulationTable[] = [
  {
    id: 'racing',
    title: 'Races: the best configuration is dropped',
    shows: 'wrong',
    columns,
    rows: buildRows('wrong'),
  },
  { id: 'racing-saved', title: 'Races: runs saved', shows: 'power', columns, rows: buildRows('saved') },
];
