/**
 * The number of further units for a verdict of a switchback test. It is that of a plan with the observed effect and spread.
 * The randomisation test of the design must also be able to reject: of few plans, even the most extreme result is
 * not rare enough.
 */
import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import type { SwitchbackDesign } from './design.ts';
import { findUnitsForVerdict } from './draw-plan.ts';
import type { SwitchbackEstimate } from './estimate.ts';
import { chooseRateOfDesign, planUnits, planUnitsForEquivalence } from './plan-units.ts';

const POWER = 0.8;
const MORE_MAX = 100_000;
/** Fewest counted units for an estimate of the spread. */
const COUNTED_MIN = 3;

/** The numbers of one indicator over the units that have ended. */
interface ObservedUnits {
  estimate: SwitchbackEstimate | null;
  margin: number;
  /** Units that have ended. */
  ended: number;
  /** Share of the error rate. */
  weight: number;
}

/** Counts the units beyond those that ended for a verdict with a power of 80 %; null for none or too many. */
export function countMoreUnits(
  design: SwitchbackDesign,
  { estimate, margin, ended, weight }: ObservedUnits,
): number | null {
  const counted = (estimate?.control_units ?? 0) + (estimate?.candidate_units ?? 0);
  if (estimate === null || counted < COUNTED_MIN || ended === 0) return null;
  const effect = Math.abs(estimate.effect);
  const spread = { between_units: estimate.spread, counted_share: counted / ended };
  const target = { power: POWER, weight, chooseRate: chooseRateOfDesign(design) };
  const slack = margin - effect;
  const planned = Math.min(
    effect > 0 ? planUnits(effect, spread, target) : Number.POSITIVE_INFINITY,
    slack > 0 ? planUnitsForEquivalence(slack, spread, target) : Number.POSITIVE_INFINITY,
  );
  const possible = findUnitsForVerdict(design, SWITCHBACK_UNITS_MAX, weight);
  if (possible === null) return null;
  const more = Math.max(1, planned - ended, possible - ended);
  return more <= MORE_MAX ? more : null;
}
