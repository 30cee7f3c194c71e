/**
 * The spread of a pilot, from which experiments are planned, and the reasons for which a pilot shows none.
 *
 * A plan for a population needs values that differ and units that are independent. Five of ten inputs that tie leave the
 * spread of the others unknown: 95 % of inputs identical and 5 % a quarter worse often show no spread at all among ten. The
 * plan was then the smallest possible one, and its power 0.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { DIFFERING_MIN } from '../../error-rates.ts';
import type { PairedMeasurement } from '../compare.ts';
import { listRelationBlockers } from '../relation/explain-relation.ts';
import type { PairedUnit } from '../units.ts';

/** The advice of every refusal. */
const ENOUGH = `A plan needs ${DIFFERING_MIN} that do: fewer do not show how much others differ.`;
/** Effects that agree to so many decimals differ by rounding alone; they are at most near 1. */
const EFFECT_DECIMALS = 12;

/** Returns the variance of the mean of dependent units, relative to independent ones (Kish, Survey Sampling, 1965). */
export function computeDesignEffect({ complete, dependence }: PairedMeasurement): number {
  const { effective_sample_size, clusterings } = dependence;
  const effects = clusterings.map(
    ({ effective, intraclass_correlation }) =>
      1 + (complete.length / effective - 1) * (intraclass_correlation ?? 0),
  );
  return Math.max(1, complete.length / effective_sample_size, ...effects);
}

/** Counts the units with different values on both sides. */
export function countDiffering({ complete }: PairedMeasurement): number {
  return complete.filter(isDiffering).length;
}

function isDiffering({ effect }: PairedUnit): boolean {
  return effect !== null && effect !== 0;
}

/** Returns the reason for which the units show no spread to plan from, in sentences; null where they show it. */
export function explainMissingSpread(measurement: PairedMeasurement, unit: string): string | null {
  const differing = countDiffering(measurement);
  const valued = measurement.complete.filter(({ effect }) => effect !== null);
  if (differing < DIFFERING_MIN) return explainFewDiffering(differing, valued.length, unit);
  const effects = new Set(valued.map(({ effect }) => (effect ?? 0).toFixed(EFFECT_DECIMALS)));
  if (effects.size === 1)
    return `All ${valued.length} ${unit}s differ by the same amount, which shows nothing of the spread of others.`;
  return explainDependence(measurement, unit);
}

/** Says how many of the units differ. */
export function explainFewDiffering(differing: number, total: number, unit: string): string {
  const count = differing === 0 ? 'None' : `Only ${differing}`;
  return `${count} of ${formatCount(total, unit)} ${differing > 1 ? 'differ' : 'differs'}. ${ENOUGH}`;
}

/** Returns the reason for which dependent units count as too few; null for enough of them. */
function explainDependence(measurement: PairedMeasurement, unit: string): string | null {
  const { complete, dependence } = measurement;
  const [related] = listRelationBlockers(measurement, unit);
  if (related !== undefined) return related;
  for (const { by, count, use, effective } of dependence.clusterings) {
    if (use === 'similar') continue;
    const clusters = complete.filter(isDiffering).map(({ clusters: own }) => own[by] ?? '');
    const differing = new Set(clusters).size;
    if (use === 'different' || differing < DIFFERING_MIN)
      return `The ${complete.length} ${unit}s are ${formatCount(count, 'group')} by ${by}, ${formatEvidence(effective)} of equal size, and ${differing} of them ${differing === 1 ? 'differs' : 'differ'}. ${ENOUGH}`;
  }
  const independent = (countDiffering(measurement) * dependence.effective_sample_size) / complete.length;
  return independent < DIFFERING_MIN
    ? `Neighbouring ${unit}s resemble each other: those that differ count as ${formatEvidence(independent)}. ${ENOUGH}`
    : null;
}
