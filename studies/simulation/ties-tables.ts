/** Tables of inputs that mostly tie: what the absence of differences does and does not show. */

import { resolveObjective } from '@switchyard/server/experiments/results/select-indicators.ts';
import { decideNonInferiority } from '@switchyard/server/experiments/statistics/acceptance/non-inferiority.ts';
import { Resampler } from '@switchyard/server/experiments/statistics/bootstrap.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { drawPairedRuns, INDICATOR, type PairedPopulation } from './paired-populations.ts';
import {
  buildPairedRow,
  countAcceptable,
  drawRareLoss,
  formatSizes,
  type SimulationRow,
  type SimulationTable,
} from './table-rows.ts';

const SIZES = [
  [10, 1],
  [20, 1],
  [50, 1],
] as const;
const columns = SIZES.map(([inputs]) => `${inputs}`);
const RESAMPLES = 399;
/** The margin and the tolerance of every table. */
const MARGIN = 0.01;
/** Logarithmic standard deviation of changes that differ between inputs. */
const CHANGE_SPREAD = 0.5;

/** Share of inputs that differ, and their mean change. On average the candidate is worse by the margin or by more. */
const CHANGES = [
  [0.5, 0.02],
  [0.2, 0.05],
  [0.1, 0.1],
  [0.05, 0.25],
  [0.02, 1],
] as const;

/** Returns effects of 0, and with this probability of `change`, or of lognormal changes with that mean. */
function drawChange(share: number, change: number, spread: number): PairedPopulation['drawEffect'] {
  if (spread === 0) return drawRareLoss(share, 0, change);
  return (generator) =>
    generator.uniform() < share ? change * Math.exp(spread * generator.normal() - spread ** 2 / 2) : 0;
}

const describeChange = (share: number, change: number, spread: number) =>
  `${100 * (1 - share)} % tie, the others are ${100 * change} % worse${spread === 0 ? '' : ', by unequal amounts'}`;

/** Builds one row for each population. */
const buildRows = (build: (name: string, population: PairedPopulation) => SimulationRow): SimulationRow[] =>
  [0, CHANGE_SPREAD].flatMap((spread) =>
    CHANGES.map(([share, change]) =>
      build(describeChange(share, change, spread), { drawEffect: drawChange(share, change, spread) }),
    ),
  );

const countEquivalent = ({ equivalent }: { equivalent: number }) => equivalent;

/** Small noise on every input hides a rare change as ties do, and inputs that differ a little show a spread. */
const rareUnderNoise: PairedPopulation['drawEffect'] = (generator) =>
  generator.uniform() < 0.05 ? 0.25 : 0.001 * generator.normal();

const equivalence: SimulationTable = {
  id: 'ties',
  title: 'Most inputs tie, the mean is 1 % worse or more: equivalent',
  shows: 'wrong',
  columns: formatSizes(SIZES),
  rows: [
    ...buildRows((name, population) => buildPairedRow(name, population, SIZES, { share: countEquivalent })),
    buildPairedRow('noise of 0.1 %, and 5 % are 25 % worse', { drawEffect: rareUnderNoise }, SIZES, {
      share: countEquivalent,
      known:
        'A change that no input shows cannot be seen. The reason of `equivalent` says how many other inputs may have one; `largest_loss` excludes it.',
    }),
  ],
};

const direction: SimulationTable = {
  id: 'ties-direction',
  title: 'Most inputs tie, the others are better or worse by chance: better or worse',
  shows: 'wrong',
  columns: formatSizes(SIZES),
  rows: CHANGES.map(([share, change]) =>
    buildPairedRow(
      `${100 * (1 - share)} % tie, the others change by ±${100 * change} %`,
      {
        drawEffect: (generator) => {
          const effect = (1 + change) ** (generator.uniform() < 0.5 ? 1 : -1) - 1;
          return generator.uniform() < share ? effect : 0;
        },
      },
      SIZES,
    ),
  ),
};

/** Returns the share of non-inferiority rules within 1 % that are met. */
function simulateNonInferiority(population: PairedPopulation, inputs: number, experiments: number): number {
  const generator = new RandomGenerator(`ties ${inputs}`);
  const rule = {
    field: INDICATOR,
    statistic: 'mean',
    params: { operator: 'le', tolerance: { type: 'relative', value: MARGIN } },
  } as const;
  const settings = {
    ...resolveObjective(undefined),
    listIndicatorBlockers: () => [],
    resampler: new Resampler({ seed: 'ties', resamples: RESAMPLES }),
  };
  let met = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const runs = drawPairedRuns(population, { inputs, repetitions: 1 }, generator);
    if (decideNonInferiority(rule, runs, settings).passed) met += 1;
  }
  return met / experiments;
}

const nonInferiority: SimulationTable = {
  id: 'ties-non-inferiority',
  title: 'Most inputs tie, the mean is 1 % worse or more: non-inferiority within 1 % is met',
  shows: 'wrong',
  columns,
  rows: buildRows((name, population) => ({
    name,
    cells: SIZES.map(
      ([inputs]) =>
        (experiments) =>
          simulateNonInferiority(population, inputs, experiments),
    ),
  })),
};

const bounded = { largest_loss: resolveObjective({ largest_loss: 0.3 }).largest_loss };

const largestLoss: SimulationTable = {
  id: 'ties-largest-loss',
  title: 'Rare changes with `largest_loss` of 30 %, the mean is 1.25 % worse: equivalent or better',
  shows: 'wrong',
  columns: formatSizes(SIZES),
  rows: [
    ['95 % tie, 5 % are 25 % worse', drawRareLoss(0.05, 0, 0.25)] as const,
    ['noise of 0.1 %, and 5 % are 25 % worse', rareUnderNoise] as const,
  ].map(([name, drawEffect]) =>
    buildPairedRow(name, { drawEffect }, SIZES, { share: countAcceptable, settings: bounded }),
  ),
};

const POWER_SIZES = [
  [20, 1],
  [50, 1],
  [200, 1],
  [500, 1],
] as const;

const power: SimulationTable = {
  id: 'ties-power',
  title: 'All inputs tie, or 5 % change by ±2 %, with `largest_loss` of 10 %: equivalent',
  shows: 'power',
  columns: formatSizes(POWER_SIZES),
  rows: [
    ['all tie', () => 0] as const,
    [
      '5 % change by ±2 %',
      (generator: RandomGenerator) =>
        generator.uniform() < 0.05 ? (generator.uniform() < 0.5 ? 0.02 : -0.02) : 0,
    ] as const,
  ].map(([name, drawEffect]) =>
    buildPairedRow(name, { drawEffect }, POWER_SIZES, {
      share: countEquivalent,
      settings: { largest_loss: resolveObjective({ largest_loss: 0.1 }).largest_loss },
    }),
  ),
};

/** Tables of inputs that mostly tie. */
export const TIES_TABLES: readonly SimulationTable[] = [
  equivalence,
  direction,
  nonInferiority,
  largestLoss,
  power,
];
