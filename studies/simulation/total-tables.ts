/** Tables of the typical input and the total, which a few large inputs decide. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { countComparisons } from './analyse-simulated.ts';
import type { PairedPopulation } from './paired-populations.ts';
import type { SimulationRow, SimulationTable } from './table-rows.ts';

const INPUTS = [10, 20, 50, 100] as const;

/** Standard deviation of the logarithm of sizes within a class. */
const SIZE_SPREAD = 0.3;
/** Effects differ a little between inputs; the runs have no noise. */
const drawGain = (generator: RandomGenerator) => -0.03 + 0.01 * generator.normal();
/** Four fifths lose 0.8 × 3 %, and a fifth gains 0.2 × 10 × 1.2 % of the same size: the total is equal. */
const EQUAL_TOTAL: PairedPopulation = {
  sizeSpread: SIZE_SPREAD,
  drawEffect: drawGain,
  largeInputs: { share: 0.2, factor: 10, effect: 0.042 },
};
const BETTER_EVERYWHERE: PairedPopulation = { ...EQUAL_TOTAL, largeInputs: { share: 0.2, factor: 10 } };

/** True for a verdict that names the total, in its sentence or in a warning. */
const namesTotal = ({ reasons, warnings }: Comparison): boolean =>
  [...reasons, ...warnings].some((text) => / total over all inputs /.test(text));

const buildRow = (
  name: string,
  population: PairedPopulation,
  holds: (comparison: Comparison) => boolean,
): SimulationRow => ({
  name,
  cells: INPUTS.map(
    (inputs) => (experiments: number) =>
      countComparisons(population, inputs, (found) => found !== undefined && holds(found), experiments),
  ),
});

const columns = INPUTS.map((inputs) => `${inputs}`);

const unnamed: SimulationTable = {
  id: 'total',
  title:
    '3 % better on small inputs, 1.2 % worse on large ones, equal total: better, and the total is not named',
  shows: 'wrong',
  columns,
  rows: [
    {
      ...buildRow(
        'better without the sentence',
        EQUAL_TOTAL,
        (found) => found.verdict === 'better' && !namesTotal(found),
      ),
      known:
        'Without a large input among them, the inputs do not show the total: 11 % of sets of 10 have none.',
    },
  ],
};

const named: SimulationTable = {
  id: 'total-named',
  title: 'The typical input and the total',
  shows: 'power',
  columns,
  rows: [
    buildRow('equal total: better', EQUAL_TOTAL, ({ verdict }) => verdict === 'better'),
    buildRow(
      'equal total: better, and the total is named',
      EQUAL_TOTAL,
      (found) => found.verdict === 'better' && namesTotal(found),
    ),
    buildRow('3 % better on all: better', BETTER_EVERYWHERE, ({ verdict }) => verdict === 'better'),
    buildRow(
      '3 % better on all: better, and the total is named',
      BETTER_EVERYWHERE,
      (found) => found.verdict === 'better' && namesTotal(found),
    ),
  ],
};

/** Tables of the typical input and the total. */
export const TOTAL_TABLES: readonly SimulationTable[] = [unnamed, named];
