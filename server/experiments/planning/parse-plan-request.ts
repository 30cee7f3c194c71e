/** Validates the request for a plan. Pure. */
import type { PlanRequest } from '@switchyard/contract/experiments/experiment-plans.ts';
import { PLANNED_SIZE_MAX } from '@switchyard/contract/limits.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { ObservedSpread } from '../results/spread-analysis.ts';
import { estimateCountedShare } from '../statistics/switchback/plan-units.ts';

/** The size whose smallest difference is asked for; null for none. */
export type PlannedSize = { inputs: number; repetitions: number } | { units: number } | null;

/** A spread, from an experiment or from assumptions. */
export interface PlanSpread
  extends Omit<ObservedSpread, 'indicator' | 'units' | 'differing' | 'pairs' | 'pilot' | 'compared'> {
  /** null for assumptions. */
  observed: Pick<ObservedSpread, 'indicator' | 'units' | 'differing' | 'pairs' | 'compared'> | null;
  /** null for assumptions, which a plan takes as they are. */
  pilot: ObservedSpread['pilot'] | null;
}

/** The validated request. */
export interface PlanSettings {
  difference: PlanRequest['difference'];
  power: number;
  comparisons: number;
  size: PlannedSize;
}

const POWER_DEFAULT = 0.8;

/** The default design of a switchback test. A plan of two days or more has a larger share of counted units. */
const DEFAULT_DESIGN = { kind: 'blocked', carryOverUnits: 1, units: 40, unitMinutes: 60 } as const;

const ASSUMPTIONS = ['between_inputs', 'within_input', 'between_units'] as const;

/** Returns the settings of the plan. Throws a 400 for contradicting sizes. */
export function parsePlanRequest(body: PlanRequest): PlanSettings {
  const { difference, inputs, repetitions, units } = body;
  if (units && (inputs || repetitions))
    throw badRequest(
      `units is ${units}, and ${inputs ? 'inputs' : 'repetitions'} is given too; a switchback test has units, other experiments have inputs and repetitions, so give one of the two.`,
    );
  if (repetitions && !inputs)
    throw badRequest(`repetitions is ${repetitions} without inputs; give the number of inputs too.`);
  return {
    difference,
    power: body.power ?? POWER_DEFAULT,
    comparisons: body.comparisons ?? 1,
    size: units ? { units } : inputs ? { inputs, repetitions: repetitions ?? 1 } : null,
  };
}

/** Returns the assumed spread. Throws a 400 without an assumption, and for assumptions about two kinds of experiments. */
export function parseAssumptions(body: PlanRequest): PlanSpread {
  const between_units = body.between_units ?? null;
  const paired = (['between_inputs', 'within_input'] as const).find((name) => typeof body[name] === 'number');
  if (between_units === null && paired === undefined)
    throw badRequest(
      'experiment_id is missing, and so are between_inputs, within_input and between_units; give an experiment whose runs show the spread, or standard deviations.',
    );
  if (between_units !== null && paired !== undefined)
    throw badRequest(
      `between_units is ${between_units}, and ${paired} is given too; a switchback test has between_units, other experiments have between_inputs and within_input, so give one of the two.`,
    );
  const isPaired = between_units === null;
  return {
    unit: isPaired ? 'input' : 'unit',
    measure: body.difference.type,
    control_mean: 1,
    shift: 0,
    between_inputs: isPaired ? (body.between_inputs ?? 0) : null,
    within_input: isPaired ? (body.within_input ?? 0) : null,
    between_units,
    design_effect: isPaired ? 1 : 1 / estimateCountedShare(DEFAULT_DESIGN),
    design: isPaired ? null : DEFAULT_DESIGN,
    observed: null,
    pilot: null,
  };
}

/** Throws a 400 for an assumption about a spread that the experiment shows. */
export function rejectAssumptions(body: PlanRequest): void {
  const field = ASSUMPTIONS.find((name) => typeof body[name] === 'number');
  if (field !== undefined)
    throw badRequest(
      `${field} is ${body[field]}, and experiment_id names an experiment that shows the spread; give one of the two.`,
    );
}

/** Throws a 400 for a difference whose plan is larger than any experiment, or cannot be computed. */
export function refuseSize(planned: number, spread: PlanSpread, { value }: PlanSettings['difference']): void {
  // NaN is refused, too.
  if (planned <= PLANNED_SIZE_MAX) return;
  throw badRequest(
    `difference.value is ${value}, and ${nameDeviations(spread)}: a plan would have more than ${formatNumber(PLANNED_SIZE_MAX)} ${spread.unit}s. Give a larger difference, such as a tenth of the standard deviation.`,
  );
}

/** Returns the standard deviations above 0 with their fields, for a message. */
export function nameDeviations(spread: PlanSpread): string {
  return ASSUMPTIONS.flatMap((name) => (spread[name] ? [`${name} is ${spread[name]}`] : [])).join(' and ');
}

/** Throws a 400 for a size that the kind of experiment does not have. */
export function checkSize(size: PlannedSize, { unit }: Pick<PlanSpread, 'unit'>): void {
  if (size === null) return;
  if ('units' in size && unit !== 'unit')
    throw badRequest(
      `units is ${size.units}, but the plan is not one of a switchback test; give inputs and repetitions.`,
    );
  if ('inputs' in size && unit === 'unit')
    throw badRequest(`inputs is ${size.inputs}, but the plan is one of a switchback test; give units.`);
  if ('inputs' in size && unit === 'original' && size.repetitions > 1)
    throw badRequest(
      `repetitions is ${size.repetitions}, but a shadow test copies each original once; leave repetitions out.`,
    );
}
