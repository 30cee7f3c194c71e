/**
 * Bounds of the share of other units that have a property. Units that depend on each other are fewer observations. With no
 * loss among 24 inputs of 6 depots, up to 39 % of the inputs of other depots may be worse, and not 12 %.
 */
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { computeClopperPearson } from '../distributions.ts';
import { OTHERS_CONFIDENCE } from '../error-rates.ts';
import type { Clustering } from './dependence.ts';
import { findLoser } from './signed-rank.ts';
import type { PairedUnit } from './units.ts';

/** The dependence of the units of a comparison. */
interface UnitDependence {
  effective_sample_size: number;
  clusterings: readonly Pick<Clustering, 'by' | 'effective'>[];
}

/** Returns the number of units that are independent: the fewest groups, where units depend on each other. */
export function countIndependent(
  units: number,
  { effective_sample_size, clusterings }: UnitDependence,
): number {
  return Math.min(units, effective_sample_size, ...clusterings.map(({ effective }) => effective));
}

/**
 * Returns the upper 95 % bound of the share of other units with the property. A group with one such unit counts as one that
 * has it, by its size: nothing shows that its units are independent. The bound of effective numbers is that of surveys (Korn
 * and Graubard, Survey Methodology 1998).
 */
export function boundOthers(
  units: readonly PairedUnit[],
  dependence: UnitDependence,
  hasProperty: (unit: PairedUnit) => boolean,
): number {
  if (units.length === 0) return 1;
  const found = units.filter(hasProperty);
  const bound = (count: number, independent: number) => {
    const trials = Math.min(units.length, independent);
    return computeClopperPearson((count * trials) / units.length, trials, OTHERS_CONFIDENCE).high;
  };
  const bounds = dependence.clusterings.map(({ by, effective }) => {
    const groups = new Set(found.map(({ clusters }) => clusters[by]));
    return bound(units.filter(({ clusters }) => groups.has(clusters[by])).length, effective);
  });
  return Math.max(bound(found.length, dependence.effective_sample_size), ...bounds);
}

/**
 * Returns true for a unit on which the candidate loses, with the side 1, or the control, with the side -1: in values or by
 * failures. A unit whose values and failures disagree is a loss of both, because each says what may happen elsewhere.
 */
export function hasLoss(side: 1 | -1, unit: PairedUnit, orientation: 1 | -1): boolean {
  return findLoser(unit) * side > 0 || (unit.effect ?? 0) * orientation * side > 0;
}

/** Says that units count as fewer independent ones; empty where they are independent. */
export function explainIndependent(units: number, independent: number, unit: string): string {
  return independent < units
    ? ` The ${units} ${unit}s count as ${formatEvidence(independent)} independent ones.`
    : '';
}
