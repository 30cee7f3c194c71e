/** Tables of batch experiments and scenario tests. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Estimate } from '@switchyard/server/experiments/statistics/comparison/effect-scale.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { simulateFamily, simulateMissedTruth } from './analyse-simulated.ts';
import { NOISES } from './noise.ts';
import type { PairedPopulation } from './paired-populations.ts';
import {
  buildPairedRow,
  countAcceptable,
  countWorse,
  drawRareLoss,
  formatSizes,
  type SimulationRow,
  type SimulationTable,
} from './table-rows.ts';

const SIZES = [
  [10, 1],
  [20, 1],
  [50, 1],
  [10, 5],
  [20, 5],
  [50, 5],
] as const;

const TAIL =
  'A loss that did not occur among the inputs cannot be seen; `losses.upper` says how many inputs may still lose.';

const equalCandidates: SimulationTable = {
  id: 'equal',
  title: 'Batch and scenario, equal candidates: better or worse',
  shows: 'wrong',
  columns: formatSizes(SIZES),
  rows: [
    ...NOISES.map((noise) => buildPairedRow(`${noise} noise`, { noise }, SIZES)),
    buildPairedRow('sizes over two orders of magnitude', { sizeSpread: 1.5 }, SIZES),
    buildPairedRow('interaction of input and candidate, 5 %', { interaction: 0.05 }, SIZES),
    buildPairedRow('two classes of inputs, 5 % better and 5 % worse', { classes: [0.05, -0.05] }, SIZES),
    buildPairedRow('candidate spreads 3 times as much', { candidateSpread: 3 }, SIZES),
    buildPairedRow(
      'candidate spreads 3 times as much, heavy noise',
      { candidateSpread: 3, noise: 'heavy' },
      SIZES,
    ),
    buildPairedRow(
      'candidate spreads 3 times as much, lognormal noise',
      { candidateSpread: 3, noise: 'lognormal' },
      SIZES,
      { known: TAIL },
    ),
  ],
};

const power: SimulationTable = {
  id: 'power',
  title: 'Batch and scenario, candidate 2 % worse: worse',
  shows: 'power',
  columns: formatSizes(SIZES),
  rows: [
    ...NOISES.map((noise) =>
      buildPairedRow(`${noise} noise`, { noise, effect: 0.02 }, SIZES, { share: countWorse }),
    ),
    buildPairedRow('sizes over two orders of magnitude', { sizeSpread: 1.5, effect: 0.02 }, SIZES, {
      share: countWorse,
    }),
    buildPairedRow(
      'sizes over two orders of magnitude, 5 % worse',
      { sizeSpread: 1.5, effect: 0.05 },
      SIZES,
      { share: countWorse },
    ),
    buildPairedRow('interaction of input and candidate, 5 %', { interaction: 0.05, effect: 0.02 }, SIZES, {
      share: countWorse,
    }),
  ],
};

const FAILURE_SIZES = [
  [20, 1],
  [50, 1],
  [20, 5],
  [50, 5],
] as const;
const failureRow = (name: string, population: PairedPopulation) =>
  buildPairedRow(name, population, FAILURE_SIZES, { share: countAcceptable });

const failures: SimulationTable = {
  id: 'failures',
  title: 'Candidates that fail: better or equivalent',
  shows: 'wrong',
  columns: formatSizes(FAILURE_SIZES),
  rows: [
    failureRow('3 % better where it runs, fails on 20 %', { effect: -0.03, failureShare: 0.2 }),
    failureRow('3 % better where it runs, fails on 50 %', { effect: -0.03, failureShare: 0.5 }),
    failureRow('equal where it runs, fails where it would be 30 % worse', {
      failureShare: 0.15,
      failureEffect: 0.3,
    }),
    failureRow('equal, its worst 15 % time out', { interaction: 0.08, failsAbove: 0.083 }),
  ],
};

const FEW_SIZES = [
  [1, 1],
  [3, 1],
  [5, 1],
  [8, 1],
] as const;

const fewInputs: SimulationTable = {
  id: 'few',
  title: 'Fewer than ten inputs, of which 80 % tie and 20 % are 20 % worse: any verdict',
  shows: 'wrong',
  columns: FEW_SIZES.map(([inputs]) => `${inputs}`),
  rows: [
    buildPairedRow('worse by 4 % on average', { drawEffect: drawRareLoss(0.2, 0, 0.2) }, FEW_SIZES, {
      share: ({ better, worse, equivalent, same }) => better + worse + equivalent + same,
    }),
  ],
};

const EQUIVALENCE_SIZES = [
  [20, 5],
  [50, 5],
  [100, 5],
] as const;

const equivalence: SimulationTable = {
  id: 'equivalence',
  title: 'A difference as large as the margin of 1 %: equivalent',
  shows: 'wrong',
  columns: formatSizes(EQUIVALENCE_SIZES),
  rows: [-0.01, 0.01].map((effect) =>
    buildPairedRow(`${100 * effect} %`, { effect }, EQUIVALENCE_SIZES, {
      share: ({ equivalent }) => equivalent,
    }),
  ),
};

const SKEW_SIZES = [
  [10, 1],
  [20, 1],
  [50, 1],
  [100, 1],
] as const;
const lognormal = (spread: number) => (generator: RandomGenerator) =>
  0.05 * (Math.exp(spread * generator.normal()) - Math.exp(spread ** 2 / 2));
const skewRow = (name: string, drawEffect: (generator: RandomGenerator) => number, known?: string) =>
  buildPairedRow(name, { drawEffect }, SKEW_SIZES, { known });

const skew: SimulationTable = {
  id: 'skew',
  title: 'A little better mostly, much worse rarely, equal on average: better or worse',
  shows: 'wrong',
  columns: SKEW_SIZES.map(([inputs]) => `${inputs}`),
  rows: [
    skewRow('lognormal 0.5', lognormal(0.5)),
    skewRow('lognormal 1', lognormal(1), TAIL),
    skewRow('lognormal 1.5', lognormal(1.5), TAIL),
    skewRow(
      'half tie, half lognormal 1',
      (generator) => (generator.uniform() < 0.5 ? 0 : lognormal(1)(generator)),
      TAIL,
    ),
    skewRow('-2 % on 90 %, +18 % on 10 %', drawRareLoss(0.1, -0.02, 0.18), TAIL),
    skewRow('-1 % on 95 %, +19 % on 5 %', drawRareLoss(0.05, -0.01, 0.19), TAIL),
  ],
};

const COVERED_INPUTS = [10, 20, 50] as const;
const LARGE = { share: 0.1, factor: 40 };
const COVERED_SIZES: Record<string, PairedPopulation> = {
  'sizes within a factor of 5': { sizeSpread: 0.5 },
  'sizes over two orders of magnitude': { sizeSpread: 1.5 },
  'one input in ten is 40 times as large': { sizeSpread: 0.5, largeInputs: LARGE },
};
const computeMeanSize = ({ sizeSpread = 0.5, largeInputs }: PairedPopulation) =>
  100 * Math.exp(sizeSpread ** 2 / 2) * (largeInputs ? 1 + largeInputs.share * (largeInputs.factor - 1) : 1);

interface Estimand {
  name: string;
  read: (comparison: Comparison) => Estimate | null;
  computeTruth: (population: PairedPopulation) => number;
}

const TYPICAL: Estimand = {
  name: 'geometric mean ratio',
  read: ({ geometric_mean_ratio }) => geometric_mean_ratio,
  computeTruth: () => 1.05,
};
const TOTAL: Estimand = { name: 'ratio of totals', read: ({ ratio }) => ratio, computeTruth: () => 1.05 };
const DIFFERENCE: Estimand = {
  name: 'mean difference',
  read: ({ mean_difference }) => mean_difference,
  computeTruth: (population) => 0.05 * computeMeanSize(population),
};

function buildCoverageRow(
  sizes: keyof typeof COVERED_SIZES,
  { name, read, computeTruth }: Estimand,
  known?: string,
): SimulationRow {
  const population = { effect: 0.05, ...COVERED_SIZES[sizes] };
  return {
    name: `${name}, ${sizes}`,
    ...(known === undefined ? {} : { known }),
    cells: COVERED_INPUTS.map(
      (inputs) => (experiments) =>
        simulateMissedTruth(population, { inputs, read, truth: computeTruth(population) }, experiments),
    ),
  };
}

const coverage: SimulationTable = {
  id: 'coverage',
  title: 'Candidate 5 % worse: 95 % intervals that do not contain the true value',
  shows: 'wrong',
  columns: COVERED_INPUTS.map((inputs) => `${inputs}`),
  rows: [
    ...Object.keys(COVERED_SIZES).map((sizes) => buildCoverageRow(sizes, TYPICAL)),
    ...Object.keys(COVERED_SIZES).map((sizes) => buildCoverageRow(sizes, TOTAL)),
    buildCoverageRow('sizes within a factor of 5', DIFFERENCE),
    buildCoverageRow('sizes over two orders of magnitude', DIFFERENCE),
    buildCoverageRow(
      'one input in ten is 40 times as large',
      DIFFERENCE,
      'A third of the samples of ten inputs have no large one.',
    ),
  ],
};

const family: SimulationTable = {
  id: 'family',
  title: 'Many indicators or candidates, all equal, 20 inputs: at least one better or worse',
  shows: 'wrong',
  columns: ['share'],
  rows: [
    ...[5, 10, 20, 50].map((indicators) => buildFamilyRow(`${indicators} indicators`, { indicators })),
    ...[10, 50].map((indicators) =>
      buildFamilyRow(`${indicators} indicators, correlation 0.7`, { indicators, correlation: 0.7 }),
    ),
    ...[3, 10, 20].map((candidates) => buildFamilyRow(`${candidates} candidates`, { candidates })),
  ],
};

function buildFamilyRow(name: string, { candidates = 1, indicators = 1, correlation = 0 }): SimulationRow {
  const members = { candidates, indicators, correlation, inputs: 20 };
  return {
    name,
    cost: Math.ceil((candidates * indicators) / 10),
    cells: [(experiments) => simulateFamily(members, experiments)],
  };
}

/** Tables of experiments over inputs. */
export const PAIRED_TABLES: readonly SimulationTable[] = [
  equalCandidates,
  power,
  failures,
  fewInputs,
  equivalence,
  skew,
  coverage,
  family,
];
