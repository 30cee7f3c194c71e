/**
 * Power of a verdict on few inputs, beside that of the two tests that publications use: Wilcoxon's signed-rank test and
 * Student's t, each on its own at 5 %. They say nothing about skewed effects, failures and other indicators.
 */
import { countReferenceRejections, type ReferenceTest } from './analyse-simulated.ts';
import { NOISES } from './noise.ts';
import type { PairedPopulation } from './paired-populations.ts';
import {
  buildPairedRow,
  countWorse,
  formatSizes,
  type SimulationRow,
  type SimulationTable,
} from './table-rows.ts';

const FEW_INPUTS = [
  [10, 1],
  [20, 1],
  [10, 5],
  [20, 5],
] as const;

const REFERENCES: readonly (readonly [ReferenceTest, string])[] = [
  ['signed-rank', 'Wilcoxon'],
  ['student', "Student's t"],
];

function buildReferenceRow(name: string, population: PairedPopulation, test: ReferenceTest): SimulationRow {
  return {
    name,
    cells: FEW_INPUTS.map(
      ([inputs, repetitions]) =>
        (experiments) =>
          countReferenceRejections(population, { inputs, repetitions, test }, experiments),
    ),
  };
}

/** Verdicts and published tests on the same experiments. */
export const POWER_TABLES: SimulationTable[] = [
  {
    id: 'few-power',
    title:
      'Batch and scenario with few inputs, candidate 2 % worse: worse, by this product and by published tests',
    shows: 'power',
    columns: formatSizes(FEW_INPUTS),
    rows: NOISES.flatMap((noise) => {
      const population = { noise, effect: 0.02 };
      return [
        buildPairedRow(`${noise} noise`, population, FEW_INPUTS, { share: countWorse }),
        ...REFERENCES.map(([test, label]) => buildReferenceRow(`${noise} noise, ${label}`, population, test)),
      ];
    }),
  },
];
