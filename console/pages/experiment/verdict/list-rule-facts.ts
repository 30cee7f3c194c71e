import type {
  Comparison,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import {
  formatAdjustment,
  formatPValue,
  formatSize,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { viewIndicator } from '@switchyard/contract/views/experiment-view.ts';
import type { Facts } from '../../../ui/facts.tsx';

interface RuleContext {
  nameIndicator: (indicator: string) => string;
  unit: string;
}

/** Directions of an indicator, in words. */
export const DIRECTIONS = { minimize: 'less is better', maximize: 'more is better', none: 'no direction' };

/** Returns the facts about the comparison that decides. */
export function listRuleFacts(
  comparison: Comparison | SwitchbackComparison,
  { nameIndicator, unit }: RuleContext,
): Facts {
  const { indicator, objective, adjustedPValue, effect } = viewIndicator(comparison);
  const { margin, measure, isInterim } = effect;
  return [
    ['Decides', nameIndicator(indicator)],
    ['Direction', DIRECTIONS[objective]],
    ['Equivalent', margin && `within ±${formatSize(measure, margin.high)}`],
    ['Interval', isInterim ? 'holds at any look' : '95 %'],
    ['Estimate', formatAdjustment(effect)],
    ['Adjusted p', formatPValue(adjustedPValue)],
    ...('inputs' in comparison ? listInputFacts(comparison, unit) : listUnitFacts(comparison)),
  ];
}

function listInputFacts(
  { inputs, related_inputs, detectable_difference, measure }: Comparison,
  unit: string,
): Facts {
  return [
    [`Usable ${unit}s`, `${formatNumber(inputs.usable)} of ${formatNumber(inputs.total)}`],
    [
      'Detectable',
      detectable_difference === null ? null : `from ${formatSize(measure, detectable_difference)}`,
    ],
    [`Related ${unit}s`, related_inputs && describeRelated(related_inputs, inputs.usable)],
  ];
}

/** Returns what was done about inputs that look like versions of each other. */
function describeRelated(
  { action, clusters }: NonNullable<Comparison['related_inputs']>,
  usable: number,
): string {
  if (action === 'none') return 'none seen';
  if (action === 'grouped') return `grouped, ${formatNumber(usable)} count as ${formatNumber(clusters ?? 0)}`;
  if (clusters === 1) return 'verdict withheld, all count as one';
  return `verdict withheld, ${clusters === null ? 'fewer than 10 groups are left' : `${formatNumber(clusters)} groups are left of the 10 that it needs`}`;
}

function listUnitFacts({ control, candidate, design, carry_over_test }: SwitchbackComparison): Facts {
  return [
    ['Counted units', `${formatNumber(control.units.counted)} and ${formatNumber(candidate.units.counted)}`],
    ['Left out after a switch', design.carry_over_units > 0 && formatCount(design.carry_over_units, 'unit')],
    ['Burn-in', design.burn_in_minutes > 0 && `${formatNumber(design.burn_in_minutes)} min`],
    ['Carry-over', `p ${formatPValue(carry_over_test.p_value)}`],
  ];
}
