/** Numbers of units and runs by outcome, for each side of a comparison. */

import { formatLargestLoss, type Margin } from '../comparison/effect-scale.ts';
import type { TieEvidence } from '../comparison/verdict.ts';
import { clampToFinite, computeScale, mean } from '../numbers.ts';
import { countMissing, countRuns, type Observation, type RunCounts } from '../observations.ts';
import type { PairedMeasurement } from './compare.ts';
import { boundOthers, countIndependent } from './other-units.ts';
import { findLoser } from './signed-rank.ts';
import type { PairedUnit } from './units.ts';

/** Numbers of units by outcome. Wins are those of the candidate; a unit that only one side solved is a loss of the other. */
export interface Tally {
  total: number;
  usable: number;
  wins: number;
  ties: number;
  losses: number;
}

/** One side of a comparison. */
export interface ComparisonSide {
  runs: RunCounts;
  /** Runs that succeeded without a number of the indicator. */
  missing: number;
  /** Mean over the units with a number on both sides. */
  mean: number | null;
}

export function tallyUnits(
  units: readonly PairedUnit[],
  complete: readonly PairedUnit[],
  orientation: 1 | -1,
): Tally {
  const signs = complete
    .filter(isInformative)
    .map((unit) => findLoser(unit) || Math.sign(unit.effect ?? 0) * orientation);
  return tallySigns(units.length, signs);
}

export function tallyPairs({ complete, orientation, units }: PairedMeasurement): Tally {
  const total = units.reduce((sum, unit) => sum + unit.pairs, 0);
  return tallySigns(
    total,
    complete.flatMap(({ pair_effects }) => pair_effects.map((effect) => Math.sign(effect) * orientation)),
  );
}

/** Returns false for a unit that both sides failed: it contains no information on their difference. */
export function isInformative(unit: PairedUnit): boolean {
  return unit.effect !== null || findLoser(unit) !== 0;
}

/** Counts oriented signs: positive is a loss of the candidate. */
function tallySigns(total: number, signs: readonly number[]): Tally {
  return {
    total,
    usable: signs.length,
    wins: signs.filter((sign) => sign < 0).length,
    ties: signs.filter((sign) => sign === 0).length,
    losses: signs.filter((sign) => sign > 0).length,
  };
}

export function describeSide(
  runs: readonly Observation[],
  indicator: string,
  valued: readonly PairedUnit[],
  side: 'control' | 'candidate',
): ComparisonSide {
  const values = valued.map((unit) => unit[side] ?? 0);
  const { factor, inverse } = computeScale(values);
  return {
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    mean: values.length === 0 ? null : clampToFinite(mean(values.map((value) => value * factor)) * inverse),
  };
}

/** Counts the units that tie or differ. Units that depend on each other count as their clusters. */
export function describeTies(
  { complete, dependence, loss_bound }: PairedMeasurement,
  largestLoss: Margin | null = null,
): TieEvidence {
  const units = complete.filter(isInformative);
  const known = largestLoss !== null && loss_bound?.value != null;
  return {
    differing: units.filter(differs).length,
    independent: countIndependent(units.length, dependence),
    upper: boundOthers(units, dependence, differs),
    largest_loss: known ? formatLargestLoss(largestLoss) : null,
  };
}

/** Returns true for a unit with a difference in values or in the failures of its runs. */
function differs({ effect, control_failed, candidate_failed }: PairedUnit): boolean {
  return (effect ?? 0) !== 0 || control_failed !== candidate_failed;
}
