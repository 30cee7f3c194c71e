/**
 * Tables of plans from pilots: how often a plan has at least the power that it promises, and how often a pilot is refused.
 *
 * The number of inputs with the power comes from simulated experiments, not from the formula of the plan.
 */

import { buildPlan } from '@switchyard/server/experiments/planning/build-plan.ts';
import {
  estimateSpread,
  type ObservedSpread,
} from '@switchyard/server/experiments/results/spread-analysis.ts';
import { bisect } from '@switchyard/server/experiments/statistics/numbers.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { simulatePaired } from '../analyse-simulated.ts';
import { drawPairedRuns, INDICATOR, type PairedPopulation } from '../paired-populations.ts';
import {
  countWorse,
  drawRareLoss,
  formatSizes,
  type PairedSize,
  type SimulationRow,
  type SimulationTable,
} from '../table-rows.ts';

const PILOTS: readonly PairedSize[] = [
  [10, 1],
  [20, 1],
  [50, 1],
  [10, 5],
];
/**
 * The difference to find, which all populations have: effects of mean 3.12 % that vary by 5 % have the geometric mean 3 %.
 * Plans of more than 20 inputs share one error rate.
 */
const DIFFERENCE = 0.03;
const POWER = 0.8;
/** No plan of these tables needs more inputs. */
const NEEDED_MAX = 128;

/** Returns the spread that a pilot shows; null for a pilot that is refused. */
function drawSpread(
  population: PairedPopulation,
  [inputs, repetitions]: PairedSize,
  seed: string,
): ObservedSpread | null {
  const { control, candidate } = drawPairedRuns(
    population,
    { inputs, repetitions },
    new RandomGenerator(seed),
  );
  const found = estimateSpread(
    {
      ...{ kind: 'spread', indicator: INDICATOR, difference: 'relative', candidate: null },
      of: {
        order: {
          ...{ instances: ['control', 'candidate'], inputs: control.map(({ input_id }) => input_id) },
          ...{ versions: [], option_sets: [], scenarios: [] },
        },
        settings: { objectives: { [INDICATOR]: 'minimize' } },
        ...{ planWarnings: [], progress: 'complete', seed },
      },
    },
    [...control, ...candidate],
  );
  return found !== null && 'indicator' in found ? found : null;
}

/** Returns the inputs that the product plans from a spread; with `isEstimate`, from the estimate itself. */
function countPlanned(found: ObservedSpread, isEstimate: boolean): number {
  const { indicator, units, differing, pairs, compared, pilot, ...spread } = found;
  const observed = { indicator, units, differing, pairs, compared };
  const difference = { type: 'relative', value: DIFFERENCE } as const;
  const { plans } = buildPlan(
    { ...{ difference, power: POWER, comparisons: 1, size: null } },
    { ...spread, observed, pilot: isEstimate ? null : pilot },
    { experiment_id: null, experiment_type: 'batch' },
  );
  return plans[0]?.inputs ?? 0;
}

/** Returns the fewest inputs that find the difference of the population in 80 % of simulated experiments. */
function findNeeded(population: PairedPopulation, experiments: number): number {
  const isEnough = (inputs: number) =>
    countWorse(simulatePaired(population, { inputs: Math.round(inputs) }, experiments)) >= POWER;
  const steps = Math.log2(NEEDED_MAX);
  return Math.round(bisect({ inside: 0, outside: NEEDED_MAX }, isEnough, steps).outside);
}

/** The share of plans with at least the promised power; pilots that are refused have no plan. */
function buildPlanRow(
  name: string,
  changes: PairedPopulation,
  { isEstimate = false }: { isEstimate?: boolean } = {},
): SimulationRow {
  const population = { effect: DIFFERENCE, ...changes };
  let needed: number | undefined;
  return {
    name,
    cost: 3,
    cells: PILOTS.map((size) => (experiments: number) => {
      needed ??= findNeeded(population, experiments);
      const planned = Array.from({ length: experiments }, (_, pilot) =>
        drawSpread(population, size, `pilot ${pilot}`),
      ).flatMap((found) => (found === null ? [] : [countPlanned(found, isEstimate)]));
      const least = needed;
      return planned.filter((inputs) => inputs >= least).length / Math.max(1, planned.length);
    }),
  };
}

const TIED_PILOTS: readonly PairedSize[] = [
  [10, 1],
  [20, 1],
  [50, 1],
];

function buildRefusalRow(name: string, population: PairedPopulation): SimulationRow {
  return {
    name,
    cells: TIED_PILOTS.map(
      (size) => (experiments: number) =>
        Array.from({ length: experiments }, (_, pilot) =>
          Number(drawSpread(population, size, `pilot ${pilot}`) === null),
        ).reduce((total, one) => total + one, 0) / experiments,
    ),
  };
}

/** Tables of plans. */
export const PLANNING_TABLES: readonly SimulationTable[] = [
  {
    id: 'plans',
    title: 'T6: plans from a pilot, promised a power of 80 %: have at least that power',
    shows: 'power',
    columns: formatSizes(PILOTS),
    rows: [
      buildPlanRow('normal noise', {}),
      buildPlanRow('normal noise, planned by the estimate of the variance', {}, { isEstimate: true }),
      buildPlanRow('effects vary by 5 %', { interaction: 0.05, effect: 0.0312 }),
      buildPlanRow('lognormal noise', { noise: 'lognormal' }),
    ],
  },
  {
    id: 'refused-pilots',
    title: 'T6: pilots from which nothing is planned',
    shows: 'power',
    columns: formatSizes(TIED_PILOTS),
    rows: [
      buildRefusalRow('95 % tie, 5 % are 25 % worse', { drawEffect: drawRareLoss(0.05, 0, 0.25) }),
      ...[0.8, 0.5].map((tied) =>
        buildRefusalRow(`${100 * tied} % tie, the others vary by 5 %`, {
          drawEffect: (generator) => (generator.uniform() < tied ? 0 : 0.05 * generator.normal()),
        }),
      ),
      buildRefusalRow('none tie, normal noise', {}),
    ],
  },
];
