/** Rows of the simulation's tables, and the shares that their cells show. */

import type { FamilyIndicator } from '@switchyard/server/experiments/statistics/comparison/pipeline.ts';
import type { DesignKind } from '@switchyard/server/experiments/statistics/switchback/design.ts';
import type { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import {
  type PairedKind,
  simulatePaired,
  simulateSwitchback,
  type VerdictShares,
} from './analyse-simulated.ts';
import type { PairedPopulation } from './paired-populations.ts';
import type { SwitchbackPopulation } from './switchback-populations.ts';

/** One row of a table: a population, with one share for each column. */
export interface SimulationRow {
  name: string;
  /** Computes the cell of a column from so many experiments. */
  cells: ((experiments: number) => number)[];
  /** Times that an experiment costs more than one of the cheapest rows; fewer of them are drawn. */
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

/** Number of inputs, and of runs on each. */
export type PairedSize = readonly [inputs: number, repetitions: number];

interface PairedRowOptions {
  kind?: PairedKind;
  share?: (shares: VerdictShares) => number;
  known?: string | undefined;
  settings?: Partial<FamilyIndicator>;
}

/** Returns the share of verdicts that are wrong for equal candidates. */
const countWrong = ({ better, worse }: VerdictShares) => better + worse;
/** Returns the share of verdicts that are wrong for a candidate that fails more. */
export const countAcceptable = ({ better, equivalent }: VerdictShares) => better + equivalent;
/** Returns the share of verdicts that are right for a worse candidate. */
export const countWorse = ({ worse }: VerdictShares) => worse;

/** Builds the row of a batch, a scenario test or a shadow test. */
export function buildPairedRow(
  name: string,
  population: PairedPopulation,
  sizes: readonly PairedSize[],
  { kind = 'batch', share = countWrong, known, settings = {} }: PairedRowOptions = {},
): SimulationRow {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: sizes.map(
      ([inputs, repetitions]) =>
        (experiments) =>
          share(simulatePaired(population, { inputs, repetitions, kind, settings }, experiments)),
    ),
  };
}

/** Formats the columns of sizes: "20 × 5". */
export function formatSizes(sizes: readonly PairedSize[]): string[] {
  return sizes.map(([inputs, repetitions]) => `${inputs} × ${repetitions}`);
}

/** Numbers of units of the simulated switchback tests. */
export const UNIT_COUNTS = [24, 48, 96] as const;

/** A simulated switchback test of 24 units takes 35 ms of a core. */
const SWITCHBACK_COST = 3;

interface SwitchbackRowOptions {
  kind?: DesignKind;
  carryOverUnits?: number;
  share?: (shares: VerdictShares) => number;
  known?: string;
}

/** Builds the row of a switchback test with units of an hour. */
export function buildSwitchbackRow(
  name: string,
  population: SwitchbackPopulation,
  { kind = 'blocked', carryOverUnits = 1, share = countWrong, known }: SwitchbackRowOptions = {},
): SimulationRow {
  return {
    name,
    cost: SWITCHBACK_COST,
    ...(known === undefined ? {} : { known }),
    cells: UNIT_COUNTS.map(
      (units) => (experiments: number) =>
        share(simulateSwitchback(population, { kind, carryOverUnits, units, unitMinutes: 60 }, experiments)),
    ),
  };
}

/** Returns effects of `loss` with this probability, else of `gain`. */
export const drawRareLoss = (share: number, gain: number, loss: number) => (generator: RandomGenerator) =>
  generator.uniform() < share ? loss : gain;
