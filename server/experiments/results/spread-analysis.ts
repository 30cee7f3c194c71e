/**
 * Estimates the spread that an experiment's runs show, for the plan of another one. Pure; results-worker-pool.ts runs it in a
 * worker thread. A comparison of two equal instances (an A/A experiment) shows the same spread as one with an effect.
 */
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import { Resampler } from '../statistics/bootstrap.ts';
import { mean } from '../statistics/numbers.ts';
import type { Observation } from '../statistics/observations.ts';
import { measureIndicator, type PairedMeasurement } from '../statistics/paired/compare.ts';
import type { FamilyGroup, FamilyIndicator } from '../statistics/paired/family.ts';
import { pairOutcomes } from '../statistics/paired/outcomes.ts';
import type { Measure } from '../statistics/paired/units.ts';
import { estimateVarianceComponents } from '../statistics/planning/variance-components.ts';
import { measureIndicators, measurePlan } from '../statistics/switchback/compare.ts';
import type { SwitchbackDesign } from '../statistics/switchback/design.ts';
import { estimateCountedShare } from '../statistics/switchback/plan-units.ts';
import { type ComparisonSettings, listClusterings } from '../store/comparison-settings.ts';
import { listOriginalClusterings, readSwitchbackDesign } from '../store/online-test-definitions.ts';
import { type BatchResultsRequest, groupRuns, sortRuns } from './batch-analysis.ts';
import {
  buildPlanUnits,
  pairWithOriginals,
  type ShadowResultsRequest,
  type SwitchbackResultsRequest,
  type UnitObservation,
} from './online-test-analysis.ts';
import { replaceFlags, selectIndicators } from './select-indicators.ts';

/** Requests whose runs show a spread. */
export type ComparedRequest =
  | (BatchResultsRequest & { kind?: 'batch' })
  | ShadowResultsRequest
  | SwitchbackResultsRequest;

/** The indicator of a plan, and the scale of its difference. */
export interface SpreadSettings {
  /** null: the primary one of the experiment, else `result.value`. */
  indicator: string | null;
  /** `absolute` for a difference in the unit of the indicator. */
  difference: Measure;
}

/** A request for the spread of an experiment. */
export interface SpreadRequest extends SpreadSettings {
  kind: 'spread';
  of: ComparedRequest;
}

/** The spread of an experiment as standard deviations on the scale of the effect: of logarithms, or in the indicator's unit. */
export interface ObservedSpread {
  indicator: string;
  unit: 'input' | 'original' | 'unit';
  measure: Measure;
  /** Mean of the control, and the shift that is added before a ratio is taken. */
  control_mean: number;
  shift: number;
  between_inputs: number | null;
  within_input: number | null;
  between_units: number | null;
  units: number;
  pairs: number;
  /** Number of units that say as much as one independent, counted unit. */
  design_effect: number;
  /** The design of a switchback test; null for other experiments. */
  design: Omit<SwitchbackDesign, 'units'> | null;
}

/** Returns the name of the indicator that a plan compares. */
export function choosePlannedIndicator({ primary }: ComparisonSettings, indicator: string | null): string {
  return indicator ?? primary ?? 'result.value';
}

/** Returns the settings of an experiment's comparison. */
export function readSettings(request: ComparedRequest): ComparisonSettings {
  return request.kind === 'shadow' || request.kind === 'switchback' ? request.definition : request.settings;
}

/** Returns the spread; null when too few runs report the indicator. */
export function estimateSpread(
  { of, indicator, difference }: SpreadRequest,
  observations: readonly UnitObservation[],
): ObservedSpread | null {
  const settings = readSettings(of);
  const name = choosePlannedIndicator(settings, indicator);
  const { indicators } = selectIndicators(observations, settings, Number.POSITIVE_INFINITY);
  const found =
    indicators.find((one) => one.indicator === name) ??
    indicators.find((one) => listIndicatorNames(name).includes(one.indicator));
  if (!found) return null;
  const runs = replaceFlags(observations, [found]);
  const planned: FamilyIndicator =
    difference === 'absolute'
      ? { ...found, measure: 'absolute', shift: 0, margin: { type: 'absolute', value: 0 } }
      : found;
  if (of.kind === 'switchback') return estimateUnitSpread(of, planned, runs);
  if (of.kind === 'shadow') {
    const { originals, sides } = pairWithOriginals(of.definition, runs);
    return estimatePairedSpread(
      sides.map((candidate) => ({ control: originals, candidate })),
      planned,
      { unit: 'original', clusterings: listOriginalClusterings(of.definition), seed: of.seed },
    );
  }
  const [control, ...candidates] = groupRuns(sortRuns(of, runs));
  if (!control) return null;
  return candidates.length === 0
    ? estimateRunSpread(control, planned)
    : estimatePairedSpread(
        candidates.map((candidate) => ({ control, candidate })),
        planned,
        { unit: 'input', clusterings: listClusterings(of.settings), seed: of.seed },
      );
}

/** Averages the variances over the candidates, and takes the largest dependence. */
function estimatePairedSpread(
  groups: readonly FamilyGroup[],
  planned: FamilyIndicator,
  { unit, clusterings, seed }: { unit: 'input' | 'original'; clusterings: string[]; seed: string },
): ObservedSpread | null {
  const resampler = new Resampler({ seed, resamples: 39 });
  const design = {
    serial: unit === 'original',
    clusterings,
    resampler,
  };
  const found = groups.flatMap((group) => {
    const measurement = measureIndicator(group, planned.indicator, planned, design);
    const components = estimateVarianceComponents(
      measurement.complete.map(({ pair_effects }) => pair_effects),
    );
    return components === null ? [] : [{ measurement, components }];
  });
  const [first] = found;
  if (!first) return null;
  const { measure, scale } = first.measurement;
  const averageDeviation = (read: (one: (typeof found)[number]) => number) =>
    Math.sqrt(mean(found.map(read))) / scale.factor;
  const { inputs, pairs } = first.components;
  return {
    indicator: planned.indicator,
    unit,
    measure,
    control_mean: meanOfControl(first.measurement),
    shift: planned.shift,
    between_inputs: averageDeviation(({ components }) => components.between_inputs),
    within_input: pairs === inputs ? null : averageDeviation(({ components }) => components.within_input / 2),
    between_units: null,
    units: inputs,
    pairs,
    design_effect: Math.max(...found.map(({ measurement }) => computeDesignEffect(measurement))),
    design: null,
  };
}

function meanOfControl({ complete }: PairedMeasurement): number {
  return mean(complete.flatMap(({ control }) => (control === null ? [] : [control])));
}

/** Returns the variance of the mean of dependent units, relative to independent ones (Kish, Survey Sampling, 1965). */
function computeDesignEffect({ complete, dependence }: PairedMeasurement): number {
  const { effective_sample_size, clusterings } = dependence;
  const effects = clusterings.map(
    ({ effective, intraclass_correlation }) =>
      1 + (complete.length / effective - 1) * (intraclass_correlation ?? 0),
  );
  return Math.max(1, complete.length / effective_sample_size, ...effects);
}

/** Returns the spread of the runs of a single group, which shows nothing of the variation of effects. */
function estimateRunSpread(runs: readonly Observation[], planned: FamilyIndicator): ObservedSpread | null {
  const lists = pairOutcomes(runs, runs, planned.indicator).map(({ pairs }) =>
    pairs.flatMap(({ control }) => (typeof control === 'number' ? [control] : [])),
  );
  const values = lists.flat();
  const isRelative = planned.measure !== 'absolute' && values.every((value) => value + planned.shift > 0);
  const components = estimateVarianceComponents(
    isRelative ? lists.map((list) => list.map((value) => Math.log(value + planned.shift))) : lists,
  );
  if (components === null || components.pairs === components.inputs) return null;
  return {
    indicator: planned.indicator,
    unit: 'input',
    measure: isRelative ? 'relative' : 'absolute',
    control_mean: mean(values),
    shift: planned.shift,
    between_inputs: null,
    within_input: Math.sqrt(components.within_input),
    between_units: null,
    units: components.inputs,
    pairs: components.pairs,
    design_effect: 1,
    design: null,
  };
}

function estimateUnitSpread(
  request: SwitchbackResultsRequest,
  planned: FamilyIndicator,
  runs: readonly UnitObservation[],
): ObservedSpread | null {
  const { definition } = request;
  const design = readSwitchbackDesign(definition);
  const { skippedUnits = 0 } = request;
  const plan = measurePlan(buildPlanUnits(request, runs), { design, skippedUnits, seed: definition.seed });
  const [measured] = measureIndicators(plan, [planned], definition.burnInMinutes ?? 0);
  if (!measured?.estimate) return null;
  const { estimate, measure, factor, units } = measured;
  const counted = units.filter((unit) => unit.counted);
  return {
    indicator: planned.indicator,
    unit: 'unit',
    measure,
    control_mean: mean(counted.filter(({ isCandidate }) => !isCandidate).map((unit) => unit.mean)),
    shift: planned.shift,
    between_inputs: null,
    within_input: null,
    between_units: estimate.spread / factor,
    units: counted.length,
    pairs: counted.length,
    design_effect: 1 / estimateCountedShare(design),
    design,
  };
}
