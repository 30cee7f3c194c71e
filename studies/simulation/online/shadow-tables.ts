/** Tables of shadow tests, and of results that somebody reads while the experiment runs. */
import { type Looks, simulateLooks, simulateRepeatedExperiments } from '../analyse-simulated.ts';
import type { PairedPopulation } from '../paired-populations.ts';
import {
  buildPairedRow,
  countWorse,
  drawRareLoss,
  type SimulationRow,
  type SimulationTable,
} from '../table-rows.ts';

const SHADOW_SIZES = [
  [20, 1],
  [50, 1],
  [100, 1],
  [300, 1],
] as const;
const shadowRow = (name: string, population: PairedPopulation, known?: string) =>
  buildPairedRow(name, population, SHADOW_SIZES, { kind: 'shadow', known });
const SHORT_SERIES = 'Noise hides the dependence in a short series; more originals show it.';
const SLOW_CHANGE =
  'An effect that changes more slowly than the test lasts: the verdict holds for the time of the test.';

const FEW_INPUTS = 'Few inputs do not show that neighbours resemble each other; more inputs do.';

/** Either side fails on a sixth of the originals, those of the stretches or mostly those of the same callers. */
const FAILING_STRETCHES = { stretches: { length: 10, deviation: 0.05 }, failsBeyond: 0.05 };
const failingCallers = (count: number) => ({
  callers: { count, deviation: 0.03 },
  interaction: 0.03,
  failsBeyond: 0.04,
});

const dependence: SimulationTable = {
  id: 'dependence',
  title: 'Shadow, equal candidates, dependent originals: better or worse',
  shows: 'wrong',
  columns: SHADOW_SIZES.map(([originals]) => `${originals}`),
  rows: [
    shadowRow('independent', {}),
    ...[0.3, 0.6, 0.9].flatMap((correlation) => [
      // Without noise of the runs, as in the review of these tests; then with it, which hides the dependence.
      shadowRow(`AR(1) ${correlation}`, { noise: 'none', serial: { correlation, deviation: 0.05 } }),
      shadowRow(
        `AR(1) ${correlation} and noise`,
        { serial: { correlation, deviation: 0.08 } },
        correlation === 0.9 ? SHORT_SERIES : undefined,
      ),
    ]),
    shadowRow('AR(1) 0.99 and noise', { serial: { correlation: 0.99, deviation: 0.05 } }, SLOW_CHANGE),
    ...[5, 20].map((length) =>
      shadowRow(
        `stretches of ${length} with effects of their own, 3 %`,
        { stretches: { length, deviation: 0.03 } },
        length === 20 ? SLOW_CHANGE : undefined,
      ),
    ),
    ...[2, 5, 10].map((copies) => shadowRow(`each input sent ${copies} times`, { copies })),
    ...[3, 5, 12].map((count) =>
      shadowRow(`${count} callers with effects of their own, 3 %`, { callers: { count, deviation: 0.03 } }),
    ),
    shadowRow('either side fails in stretches of 10', FAILING_STRETCHES),
    ...[2, 3, 5].map((count) =>
      shadowRow(`either side fails for some of ${count} callers`, failingCallers(count)),
    ),
  ],
};

/** A set of the runs of a period has at most 20 inputs. */
const PERIOD_SIZES = [
  [10, 1],
  [15, 1],
  [20, 1],
] as const;
const periodRow = (name: string, population: PairedPopulation, options: { known?: string; isPower?: true }) =>
  buildPairedRow(name, population, PERIOD_SIZES, {
    kind: 'period',
    known: options.known,
    ...(options.isPower ? { share: countWorse } : {}),
  });

const period: SimulationTable = {
  id: 'period',
  title: 'Batch on the inputs of a period, equal candidates: better or worse',
  shows: 'wrong',
  columns: PERIOD_SIZES.map(([inputs]) => `${inputs}`),
  rows: [
    periodRow('independent', {}, {}),
    ...[0.3, 0.6, 0.9].flatMap((correlation) => [
      periodRow(
        `AR(1) ${correlation}`,
        { noise: 'none', serial: { correlation, deviation: 0.05 } },
        correlation < 0.6 ? {} : { known: FEW_INPUTS },
      ),
      periodRow(
        `AR(1) ${correlation} and noise`,
        { serial: { correlation, deviation: 0.08 } },
        correlation < 0.6 ? {} : { known: FEW_INPUTS },
      ),
    ]),
  ],
};

const periodPower: SimulationTable = {
  id: 'period-power',
  title: 'Batch on the inputs of a period, candidate 3 % worse: worse',
  shows: 'power',
  columns: PERIOD_SIZES.map(([inputs]) => `${inputs}`),
  rows: [
    periodRow('independent', { effect: 0.03 }, { isPower: true }),
    periodRow(
      'AR(1) 0.6 and noise',
      { effect: 0.03, serial: { correlation: 0.6, deviation: 0.03 } },
      { isPower: true },
    ),
  ],
};

const shadowPower: SimulationTable = {
  id: 'shadow-power',
  title: 'Shadow, candidate 3 % worse: worse',
  shows: 'power',
  columns: SHADOW_SIZES.map(([originals]) => `${originals}`),
  rows: [
    buildPairedRow('independent', { effect: 0.03 }, SHADOW_SIZES, { kind: 'shadow', share: countWorse }),
    buildPairedRow(
      'AR(1) 0.6 and noise',
      { effect: 0.03, serial: { correlation: 0.6, deviation: 0.03 } },
      SHADOW_SIZES,
      { kind: 'shadow', share: countWorse },
    ),
    buildPairedRow('each input sent 5 times', { effect: 0.03, copies: 5 }, SHADOW_SIZES, {
      kind: 'shadow',
      share: countWorse,
    }),
    buildPairedRow(
      '12 callers with effects of their own, 3 %',
      { effect: 0.03, callers: { count: 12, deviation: 0.03 } },
      SHADOW_SIZES,
      { kind: 'shadow', share: countWorse },
    ),
  ],
};

function buildLooksRow(name: string, population: PairedPopulation, plan: Looks): SimulationRow {
  return { name, cost: 10, cells: [(experiments) => simulateLooks(population, plan, experiments)] };
}

const REPEATED =
  'Every experiment has an error rate of its own; a plan made before the first one needs no repetition.';

const TYPICAL =
  'A verdict `worse` before the end speaks about the typical input; its reasons say that rare large gains may outweigh it.';

/** Changes whose mean is 0: share of the inputs with a loss, and the changes of the others and of these. */
const RARE_LOSSES = [
  ['-2 % on 90 %, +18 % on 10 %', 0.1, -0.02, 0.18],
  ['-1 % on 95 %, +19 % on 5 %', 0.05, -0.01, 0.19],
  ['-2 % on 98 %, +98 % on 2 %', 0.02, -0.02, 0.98],
] as const;

const looks: SimulationTable = {
  id: 'looks',
  title: 'Reading a batch or shadow result while it runs: better or worse at some look, or at the end',
  shows: 'wrong',
  columns: ['share'],
  rows: [
    buildLooksRow('batch, 50 inputs, after every input', {}, { inputs: 50, step: 1, kind: 'batch' }),
    buildLooksRow(
      'batch, 50 inputs, heavy tails, after every input',
      { noise: 'heavy' },
      { inputs: 50, step: 1, kind: 'batch' },
    ),
    buildLooksRow('shadow, 300 originals, after every 5', {}, { inputs: 300, step: 5, kind: 'shadow' }),
    buildLooksRow(
      'shadow, 300 originals, AR(1) 0.6, after every 20',
      { serial: { correlation: 0.6, deviation: 0.08 } },
      { inputs: 300, step: 20, kind: 'shadow' },
    ),
    buildLooksRow('shadow, 100 originals, failures in stretches of 10, after every 5', FAILING_STRETCHES, {
      inputs: 100,
      step: 5,
      kind: 'shadow',
    }),
    ...RARE_LOSSES.flatMap(([name, share, gain, loss]) => [
      buildLooksRow(
        `${name}: better before the end, 50 inputs, after every input`,
        { drawEffect: drawRareLoss(share, gain, loss) },
        {
          ...{ inputs: 50, step: 1, kind: 'batch' },
          ...{ wrong: ['better'], countsEnd: false },
        },
      ),
      buildLooksRow(
        `${name}: better before the end, shadow, 300 originals, after every 20`,
        { drawEffect: drawRareLoss(share, gain, loss) },
        {
          ...{ inputs: 300, step: 20, kind: 'shadow' },
          ...{ wrong: ['better'], countsEnd: false },
        },
      ),
    ]),
    {
      ...buildLooksRow(
        '+1 % on 95 %, -19 % on 5 %: worse before the end, 50 inputs, after every input',
        { drawEffect: drawRareLoss(0.05, 0.01, -0.19) },
        {
          ...{ inputs: 50, step: 1, kind: 'batch' },
          ...{ wrong: ['worse'], countsEnd: false },
        },
      ),
      known: TYPICAL,
    },
    {
      name: 'batch, 12 inputs, repeated with `more_inputs` more up to 4 times',
      cost: 10,
      known: REPEATED,
      cells: [(experiments) => simulateRepeatedExperiments({}, 12, experiments)],
    },
  ],
};

/** Tables of originals in time order, and of looks. */
export const SHADOW_TABLES: readonly SimulationTable[] = [
  dependence,
  shadowPower,
  period,
  periodPower,
  looks,
];
