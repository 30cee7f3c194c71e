/** Numbers of units and runs by outcome, for each side of a comparison. */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatLargestLoss, type Margin } from '../comparison/effect-scale.ts';
import type { TieEvidence } from '../comparison/verdict.ts';
import { computeBoundedMean } from '../numbers.ts';
import { countMissing, countRuns, type Observation } from '../observations.ts';
import type { PairedMeasurement } from './compare.ts';
import { boundOthers, countIndependent } from './losses.ts';
import { findLoser } from './signed-rank.ts';
import type { PairedUnit } from './units.ts';

export function tallyUnits(
  units: readonly PairedUnit[],
  complete: readonly PairedUnit[],
  orientation: 1 | -1,
): Comparison['inputs'] {
  const signs = complete
    .filter(isInformative)
    .map((unit) => findLoser(unit) || Math.sign(unit.effect ?? 0) * orientation);
  return tallySigns(units.length, signs);
}

export function tallyPairs({ complete, orientation, units }: PairedMeasurement): Comparison['inputs'] {
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
function tallySigns(total: number, signs: readonly number[]): Comparison['inputs'] {
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
): Comparison['control'] {
  const values = valued.map((unit) => unit[side] ?? 0);
  return {
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    mean: values.length === 0 ? null : computeBoundedMean(values),
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
