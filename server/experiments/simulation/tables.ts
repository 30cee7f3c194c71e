/** The tables of the simulation: every population with the sizes at which it is simulated. */
import type { RandomGenerator } from '../statistics/random-generator.ts';
import type { DesignKind } from '../statistics/switchback/design.ts';
import {
  type PairedKind,
  simulateFamily,
  simulateLooks,
  simulatePaired,
  simulateSwitchback,
  type VerdictShares,
} from './analyse-simulated.ts';
import { NOISE_DISTRIBUTIONS, type Noise } from './noise.ts';
import type { PairedPopulation } from './paired-populations.ts';
import type { SwitchbackPopulation } from './switchback-populations.ts';

/** One row of a table: a population, with one share for each column. */
interface SimulationRow {
  name: string;
  /** Computes the cell of a column from so many experiments. */
  cells: ((experiments: number) => number)[];
  /** Times that an experiment costs more than one of the cheapest rows; the short form draws fewer of them. */
  cost?: number;
  /** A cell above 5 % that is known: the documentation says why, and the product tells the user. */
  known?: string;
}

/** A table of wrong verdicts (at most 5 % each) or of power. */
export interface SimulationTable {
  id: string;
  title: string;
  shows: 'wrong' | 'power';
  columns: string[];
  rows: SimulationRow[];
}

const wrongShare = ({ better, worse }: VerdictShares) => better + worse;
const NOISES = Object.keys(NOISE_DISTRIBUTIONS).filter((name): name is Noise => name in NOISE_DISTRIBUTIONS);

function buildPairedRow(
  name: string,
  population: PairedPopulation,
  sizes: readonly (readonly [inputs: number, repetitions: number])[],
  {
    kind = 'batch',
    share = wrongShare,
    known,
  }: { kind?: PairedKind; share?: (shares: VerdictShares) => number; known?: string } = {},
): SimulationRow {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: sizes.map(
      ([inputs, repetitions]) =>
        (experiments) =>
          share(simulatePaired(population, { inputs, repetitions, kind }, experiments)),
    ),
  };
}

const SIZES = [
  [10, 1],
  [20, 1],
  [50, 1],
  [10, 5],
  [20, 5],
  [50, 5],
] as const;
const sizeColumns = SIZES.map(([inputs, repetitions]) => `${inputs} × ${repetitions}`);

const equalCandidates: SimulationTable = {
  id: 'equal',
  title: 'Batch and scenario, equal candidates: better or worse',
  shows: 'wrong',
  columns: sizeColumns,
  rows: [
    ...NOISES.map((noise) => buildPairedRow(`${noise} noise`, { noise }, SIZES)),
    buildPairedRow('sizes over two orders of magnitude', { sizeSpread: 1.5 }, SIZES),
    buildPairedRow('interaction of input and candidate, 5 %', { interaction: 0.05 }, SIZES),
  ],
};

const power: SimulationTable = {
  id: 'power',
  title: 'Batch and scenario, candidate 2 % worse: worse',
  shows: 'power',
  columns: sizeColumns,
  rows: [
    ...NOISES.map((noise) =>
      buildPairedRow(`${noise} noise`, { noise, effect: 0.02 }, SIZES, { share: ({ worse }) => worse }),
    ),
    buildPairedRow('sizes over two orders of magnitude', { sizeSpread: 1.5, effect: 0.02 }, SIZES, {
      share: ({ worse }) => worse,
    }),
    buildPairedRow('interaction of input and candidate, 5 %', { interaction: 0.05, effect: 0.02 }, SIZES, {
      share: ({ worse }) => worse,
    }),
  ],
};

const FAILURE_SIZES = [
  [20, 1],
  [50, 1],
  [20, 5],
  [50, 5],
] as const;
const isBetter = ({ better, equivalent }: VerdictShares) => better + equivalent;

const failures: SimulationTable = {
  id: 'failures',
  title: 'Candidates that fail: better or equivalent',
  shows: 'wrong',
  columns: FAILURE_SIZES.map(([inputs, repetitions]) => `${inputs} × ${repetitions}`),
  rows: [
    buildPairedRow(
      '3 % better where it runs, fails on 20 %',
      { effect: -0.03, failureShare: 0.2 },
      FAILURE_SIZES,
      {
        share: isBetter,
      },
    ),
    buildPairedRow(
      '3 % better where it runs, fails on 50 %',
      { effect: -0.03, failureShare: 0.5 },
      FAILURE_SIZES,
      {
        share: isBetter,
      },
    ),
    buildPairedRow(
      'equal where it runs, fails where it would be 30 % worse',
      { failureShare: 0.15, failureEffect: 0.3 },
      FAILURE_SIZES,
      { share: isBetter },
    ),
    buildPairedRow(
      'equal, its worst 15 % time out',
      { interaction: 0.08, failsAbove: 0.083 },
      FAILURE_SIZES,
      {
        share: isBetter,
      },
    ),
  ],
};

const SKEW_SIZES = [
  [10, 1],
  [20, 1],
  [50, 1],
  [100, 1],
] as const;
const lognormal = (spread: number) => (generator: RandomGenerator) =>
  0.05 * (Math.exp(spread * generator.normal()) - Math.exp(spread ** 2 / 2));
const rareLoss = (share: number, gain: number, loss: number) => (generator: RandomGenerator) =>
  generator.uniform() < share ? loss : gain;
const TAIL =
  'A loss that did not occur among the inputs cannot be seen; `losses.upper` says how many inputs may still lose.';

const skew: SimulationTable = {
  id: 'skew',
  title: 'A little better mostly, much worse rarely, equal on average: better or worse',
  shows: 'wrong',
  columns: SKEW_SIZES.map(([inputs]) => `${inputs}`),
  rows: [
    buildPairedRow('lognormal 0.5', { drawEffect: lognormal(0.5) }, SKEW_SIZES),
    buildPairedRow('lognormal 1', { drawEffect: lognormal(1) }, SKEW_SIZES, { known: TAIL }),
    buildPairedRow('lognormal 1.5', { drawEffect: lognormal(1.5) }, SKEW_SIZES, { known: TAIL }),
    buildPairedRow(
      'half tie, half lognormal 1',
      { drawEffect: (generator) => (generator.uniform() < 0.5 ? 0 : lognormal(1)(generator)) },
      SKEW_SIZES,
      { known: TAIL },
    ),
    buildPairedRow('-2 % on 90 %, +18 % on 10 %', { drawEffect: rareLoss(0.1, -0.02, 0.18) }, SKEW_SIZES, {
      known: TAIL,
    }),
    buildPairedRow('-1 % on 95 %, +19 % on 5 %', { drawEffect: rareLoss(0.05, -0.01, 0.19) }, SKEW_SIZES, {
      known: TAIL,
    }),
  ],
};

const SHADOW_SIZES = [
  [20, 1],
  [50, 1],
  [100, 1],
  [300, 1],
] as const;
const shadowRow = (name: string, population: PairedPopulation, known?: string) =>
  buildPairedRow(name, population, SHADOW_SIZES, {
    kind: 'shadow',
    ...(known === undefined ? {} : { known }),
  });
const SHORT_SERIES = 'Noise hides the dependence in a short series; more originals show it.';

const dependence: SimulationTable = {
  id: 'dependence',
  title: 'Shadow, equal candidates, dependent originals: better or worse',
  shows: 'wrong',
  columns: SHADOW_SIZES.map(([originals]) => `${originals}`),
  rows: [
    shadowRow('independent', {}),
    ...[0.3, 0.6, 0.9].map((correlation) =>
      shadowRow(
        `AR(1) ${correlation} and noise`,
        { serial: { correlation, deviation: 0.08 } },
        correlation === 0.9 ? SHORT_SERIES : undefined,
      ),
    ),
    ...[2, 5, 10].map((copies) => shadowRow(`each input sent ${copies} times`, { copies })),
    ...[3, 5, 12].map((count) =>
      shadowRow(`${count} callers with effects of their own, 3 %`, { callers: { count, deviation: 0.03 } }),
    ),
  ],
};

const family: SimulationTable = {
  id: 'family',
  title: 'Many indicators or candidates, all equal, 20 inputs: at least one better or worse',
  shows: 'wrong',
  columns: ['share'],
  rows: [
    ...[5, 10, 20, 50].map((indicators) => ({
      name: `${indicators} indicators`,
      cost: Math.ceil(indicators / 10),
      cells: [
        (experiments: number) => simulateFamily({ candidates: 1, indicators, inputs: 20 }, experiments),
      ],
    })),
    ...[3, 10, 20].map((candidates) => ({
      name: `${candidates} candidates`,
      cost: Math.ceil(candidates / 10),
      cells: [
        (experiments: number) => simulateFamily({ candidates, indicators: 1, inputs: 20 }, experiments),
      ],
    })),
  ],
};

const looks: SimulationTable = {
  id: 'looks',
  title: 'Reading the result while the experiment runs: better or worse at some look, or at the end',
  shows: 'wrong',
  columns: ['share'],
  rows: [
    ['batch, 50 inputs, after every input', {}, { inputs: 50, step: 1, kind: 'batch' }] as const,
    [
      'batch, 50 inputs, heavy tails, after every input',
      { noise: 'heavy' },
      { inputs: 50, step: 1, kind: 'batch' },
    ] as const,
    ['shadow, 100 originals, after every 5', {}, { inputs: 100, step: 5, kind: 'shadow' }] as const,
    [
      'shadow, 100 originals, AR(1) 0.6, after every 10',
      { serial: { correlation: 0.6, deviation: 0.08 } },
      { inputs: 100, step: 10, kind: 'shadow' },
    ] as const,
  ].map(([name, population, plan]) => ({
    name,
    cost: 10,
    cells: [(experiments: number) => simulateLooks(population, plan, experiments)],
  })),
};

const UNIT_COUNTS = [24, 48, 96] as const;

function buildSwitchbackRow(
  name: string,
  population: SwitchbackPopulation,
  { kind = 'blocked', carryOverUnits = 1 }: { kind?: DesignKind; carryOverUnits?: number } = {},
  { share = wrongShare, known }: { share?: (shares: VerdictShares) => number; known?: string } = {},
): SimulationRow {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: UNIT_COUNTS.map(
      (units) => (experiments: number) =>
        share(simulateSwitchback(population, { kind, carryOverUnits, units, unitMinutes: 60 }, experiments)),
    ),
  };
}

const DAYS: SwitchbackPopulation = { dayCycle: 0.15, dayDeviation: 0.05, trend: 0.1 };
const ASSUMED = 'The design assumes no carry-over (carry_over_units 0); the default is 1.';

const switchback: SimulationTable = {
  id: 'switchback',
  title: 'Switchback, equal candidates, hourly units, blocked with carry-over 1: better or worse',
  shows: 'wrong',
  columns: UNIT_COUNTS.map((units) => `${units}`),
  rows: [
    ...(['normal', 'lognormal', 'heavy', 'ties'] as const).map((noise) =>
      buildSwitchbackRow(`${noise} noise`, { noise }),
    ),
    buildSwitchbackRow('AR(1) 0.9', { correlation: 0.9 }),
    buildSwitchbackRow('trend 30 %', { trend: 0.3 }),
    buildSwitchbackRow('day cycle 15 %', { dayCycle: 0.15 }),
    buildSwitchbackRow('day cycle, day effects 5 %, trend 10 %', DAYS),
    buildSwitchbackRow('independent coins, carry-over 1', {}, { kind: 'independent' }),
    buildSwitchbackRow('regular, carry-over 2', {}, { kind: 'regular', carryOverUnits: 2 }),
    buildSwitchbackRow('borrows from the next unit: total effect 0', { effect: -5, carryOver: [5] }),
    buildSwitchbackRow(
      'the same, with carry_over_units 0',
      { effect: -5, carryOver: [5] },
      { carryOverUnits: 0 },
      { known: ASSUMED },
    ),
    buildSwitchbackRow('candidate spreads 3 times as much', { candidateSpread: 3 }),
    buildSwitchbackRow('90 % of units 2 lower, 10 % 18 higher', { drawEffect: rareLoss(0.1, -2, 18) }),
    buildSwitchbackRow('identical, refuses the hardest 5 % of 20 runs', { runs: 20, refusedShare: 0.05 }),
    buildSwitchbackRow('identical, refuses the hardest 20 % of 20 runs', { runs: 20, refusedShare: 0.2 }),
    buildSwitchbackRow(
      'identical, fails on the hardest 5 % of 20 runs',
      { runs: 20, failedShare: 0.05 },
      {},
      { share: isBetter },
    ),
  ],
};

const switchbackPower: SimulationTable = {
  id: 'switchback-power',
  title: 'Switchback, candidate 5 % worse, noise 5 %: worse',
  shows: 'power',
  columns: UNIT_COUNTS.map((units) => `${units}`),
  rows: (
    [
      ['blocked, carry-over 1', { kind: 'blocked', carryOverUnits: 1 }],
      ['blocked, carry-over 0', { kind: 'blocked', carryOverUnits: 0 }],
      ['independent, carry-over 0', { kind: 'independent', carryOverUnits: 0 }],
    ] as const
  ).flatMap(([name, design]) => [
    buildSwitchbackRow(`${name}, day cycle 15 %`, { effect: 5, dayCycle: 0.15 }, design, {
      share: ({ worse }) => worse,
    }),
    buildSwitchbackRow(`${name}, cycle, days and trend`, { effect: 5, ...DAYS }, design, {
      share: ({ worse }) => worse,
    }),
  ]),
};

/** All tables, in the order in which they are printed. */
export const SIMULATION_TABLES: readonly SimulationTable[] = [
  equalCandidates,
  power,
  failures,
  skew,
  dependence,
  family,
  looks,
  switchback,
  switchbackPower,
];
