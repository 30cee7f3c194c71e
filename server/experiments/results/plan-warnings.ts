/** Warnings about the plan of a switchback test: that it cannot give a verdict, and that someone may have chosen it. Pure. */
import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { SwitchbackDefinition } from '../store/online-test-definitions.ts';

/** Returns the warnings in sentences. */
export function listPlanWarnings(definition: SwitchbackDefinition): string[] {
  const { redraws = 0 } = definition;
  const missing = describeMissingVerdict(definition);
  return [
    ...(missing === null
      ? []
      : [`A plan of ${formatCount(definition.units.length, 'unit')} can never give a verdict. ${missing}`]),
    ...(redraws === 0
      ? []
      : [
          `These two instances had ${formatCount(redraws, 'other plan')}, and none ran to its end. A choice between visible plans is a choice of the result.`,
        ]),
  ];
}

/** Returns the reason for which the plan cannot give a verdict, with the number of units that can; null when it can. */
export function describeMissingVerdict({ design, unitsForVerdict }: SwitchbackDefinition): string | null {
  if (unitsForVerdict === undefined || design === undefined) return null;
  const settings = `the design ${design.kind} and carry_over_units ${design.carryOverUnits}`;
  return unitsForVerdict === null
    ? `With ${settings}, no plan of at most ${SWITCHBACK_UNITS_MAX} units gives a verdict; use a smaller carry_over_units.`
    : `With ${settings}, a verdict needs at least ${unitsForVerdict} units; create a test with that many.`;
}
