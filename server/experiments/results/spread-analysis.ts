/**
 * Estimates the spread that an experiment's runs show, for the plan of another one. Pure; results-worker-pool.ts runs it in a
 * worker thread. A comparison of two equal instances (an A/A experiment) shows the same spread as one with an effect.
 */
import Type, { type Static } from 'typebox';
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import { Resampler } from '../statistics/bootstrap.ts';
import type { Measure } from '../statistics/comparison/effect-scale.ts';
import type { FamilyIndicator } from '../statistics/comparison/pipeline.ts';
import { DIFFERING_MIN } from '../statistics/error-rates.ts';
import { mean } from '../statistics/numbers.ts';
import type { Observation } from '../statistics/observations.ts';
import {
  type ComparisonDesign,
  measureIndicator,
  type PairedMeasurement,
} from '../statistics/paired/compare.ts';
import type { FamilyGroup } from '../statistics/paired/family.ts';
import {
  computeDesignEffect,
  countDiffering,
  explainFewDiffering,
  explainMissingSpread,
} from '../statistics/paired/planning-hints.ts';
import { pairOutcomes } from '../statistics/paired/units.ts';
import { PilotDeviations } from '../statistics/planning/paired-plan.ts';
import { estimateVarianceComponents } from '../statistics/planning/variances.ts';
import { measureIndicators, measurePlan } from '../statistics/switchback/compare.ts';
import { DesignKind } from '../statistics/switchback/design.ts';
import { estimateCountedShare } from '../statistics/switchback/plan-units.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import { readSwitchbackDesign } from '../store/online-test-definitions.ts';
import { type BatchResultsRequest, designByInput, groupRuns, sortRuns } from './batch-analysis.ts';
import { chooseCandidates } from './choose-candidates.ts';
import {
  buildPlanUnits,
  designByOriginal,
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
  /** The candidate as the caller names it; null for the only one. */
  candidate: string | null;
}

/** A request for the spread of an experiment. */
export interface SpreadRequest extends SpreadSettings {
  kind: 'spread';
  of: ComparedRequest;
}

const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

/** The spread of an experiment as standard deviations on the scale of the effect: of logarithms, or in the indicator's unit. */
const ObservedSpread = Type.Object({
  indicator: Type.String(),
  /** The sides that show the spread; null for a single group and for units. */
  compared: Type.Union([
    Type.Object({ control: Type.String(), candidates: Type.Array(Type.String()) }),
    Type.Null(),
  ]),
  unit: Type.Enum(['input', 'original', 'unit']),
  measure: Type.Enum(['relative', 'absolute']),
  /** Mean of the control, and the shift that is added before a ratio is taken. */
  control_mean: Type.Number(),
  shift: Type.Number(),
  between_inputs: NullableNumber,
  within_input: NullableNumber,
  between_units: NullableNumber,
  units: Type.Number(),
  /** Units with different values on both sides; of a single group, those whose runs differ. */
  differing: Type.Number(),
  pairs: Type.Number(),
  pilot: PilotDeviations,
  /** Number of units that say as much as one independent, counted unit. */
  design_effect: Type.Number(),
  /** The design of a switchback test; null for other experiments. */
  design: Type.Union([
    Type.Object({ kind: DesignKind, carryOverUnits: Type.Number(), unitMinutes: Type.Number() }),
    Type.Null(),
  ]),
});
export type ObservedSpread = Static<typeof ObservedSpread>;

/** A spread, the reason in sentences for which runs show none, or null when too few runs report the indicator. */
export const EstimatedSpread = Type.Union([
  ObservedSpread,
  Type.Object({ missing: Type.String() }),
  /** The names of the candidates, one of which the caller must choose. */
  Type.Object({ choices: Type.Array(Type.String()) }),
  Type.Null(),
]);
export type EstimatedSpread = Static<typeof EstimatedSpread>;

/** Returns the name of the indicator that a plan compares. */
export function choosePlannedIndicator({ primary }: ComparisonSettings, indicator: string | null): string {
  return indicator ?? primary ?? 'result.value';
}

/** Returns the settings of an experiment's comparison. */
export function readSettings(request: ComparedRequest): ComparisonSettings {
  return request.kind === 'shadow' || request.kind === 'switchback' ? request.definition : request.settings;
}

/** Returns the spread that the runs show. */
export function estimateSpread(
  { of, indicator, difference, candidate }: SpreadRequest,
  observations: readonly UnitObservation[],
): EstimatedSpread {
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
  const resampler = new Resampler({ seed: of.seed, resamples: 39 });
  if (of.kind === 'shadow') {
    const { originals, sides } = pairWithOriginals(of.definition, runs);
    const design = { ...designByOriginal(of.definition), resampler };
    return estimateChosenSpread([originals, ...sides], planned, design, candidate);
  }
  const [control, ...candidates] = groupRuns(sortRuns(of, runs));
  if (!control) return null;
  if (candidates.length === 0) return estimateRunSpread(control, planned);
  const design = { ...designByInput(of.settings, of.inputs_in_time_order), resampler };
  return estimateChosenSpread([control, ...candidates], planned, design, candidate);
}

/** Returns the spread of the candidate with the name, or the names to choose from. The first group is the control. */
function estimateChosenSpread(
  [control = [], ...candidates]: readonly (readonly Observation[])[],
  planned: FamilyIndicator,
  design: ComparisonDesign,
  name: string | null,
): EstimatedSpread {
  const chosen = chooseCandidates(control, candidates, name);
  if ('choices' in chosen) return chosen;
  const { groups, compared } = chosen;
  const spread = estimatePairedSpread(
    groups.map((candidate) => ({ control, candidate })),
    planned,
    design,
  );
  return spread !== null && 'indicator' in spread ? { ...spread, compared } : spread;
}

/** Averages the variances over the candidates that show a spread, and takes the largest dependence. */
function estimatePairedSpread(
  groups: readonly FamilyGroup[],
  planned: FamilyIndicator,
  design: ComparisonDesign,
): EstimatedSpread {
  const unit = design.serial ? 'original' : 'input';
  const measured = groups.flatMap((group) => {
    const measurement = measureIndicator(group, planned.indicator, planned, design);
    const components = estimateVarianceComponents(
      measurement.complete.map(({ pair_effects }) => pair_effects),
    );
    return components === null
      ? []
      : [{ measurement, components, missing: explainMissingSpread(measurement, unit) }];
  });
  const found = measured.filter(({ missing }) => missing === null);
  const [first] = found;
  const count = ({ measurement }: (typeof measured)[number]) => countDiffering(measurement);
  // Inputs that one candidate shows to be versions of a few are so for the others too.
  const isRelated = measured.some(
    (one) => one.measurement.relation?.action === 'withheld' && count(one) >= DIFFERING_MIN,
  );
  if (!first || isRelated) {
    const [nearest] = measured
      .filter(({ missing }) => missing !== null)
      .toSorted((a, b) => count(b) - count(a));
    return nearest?.missing ? { missing: nearest.missing } : null;
  }
  const { measure, scale } = first.measurement;
  const averageDeviation = (read: (one: (typeof found)[number]) => number) =>
    Math.sqrt(mean(found.map(read))) / scale.factor;
  const { inputs, pairs } = first.components;
  const design_effect = Math.max(...found.map(({ measurement }) => computeDesignEffect(measurement)));
  return {
    indicator: planned.indicator,
    compared: null,
    unit,
    measure,
    control_mean: meanOfControl(first.measurement),
    shift: planned.shift,
    between_inputs: averageDeviation(({ components }) => components.between_inputs),
    within_input: pairs === inputs ? null : averageDeviation(({ components }) => components.within_input / 2),
    between_units: null,
    units: inputs,
    differing: Math.min(...found.map(count)),
    pairs,
    // Candidates share the runs of the control, so several of them say no more than one. Nor do dependent units.
    pilot: {
      units: {
        deviation: averageDeviation(({ components }) => components.between_means),
        degrees: Math.max(1, inputs / design_effect - 1),
      },
      pairs: {
        deviation: averageDeviation(({ components }) => components.within_input),
        degrees: pairs - inputs,
      },
      pair_share: mean(found.map(({ components }) => 1 / components.typical_pairs)),
    },
    design_effect,
    design: null,
  };
}

function meanOfControl({ complete }: PairedMeasurement): number {
  return mean(complete.flatMap(({ control }) => (control === null ? [] : [control])));
}

/** Returns the spread of the runs of a single group, which shows nothing of the variation of effects. */
function estimateRunSpread(runs: readonly Observation[], planned: FamilyIndicator): EstimatedSpread {
  const lists = pairOutcomes(runs, runs, planned.indicator).map(({ pairs }) =>
    pairs.flatMap(({ control }) => (typeof control === 'number' ? [control] : [])),
  );
  const values = lists.flat();
  const isRelative = planned.measure !== 'absolute' && values.every((value) => value + planned.shift > 0);
  const components = estimateVarianceComponents(
    isRelative ? lists.map((list) => list.map((value) => Math.log(value + planned.shift))) : lists,
  );
  if (components === null || components.pairs === components.inputs) return null;
  const differing = lists.filter((list) => new Set(list).size > 1).length;
  if (differing < DIFFERING_MIN)
    return {
      missing: `It has one group of runs. ${explainFewDiffering(differing, components.inputs, 'input')} An input differs here if its repetitions do.`,
    };
  return {
    indicator: planned.indicator,
    compared: null,
    unit: 'input',
    measure: isRelative ? 'relative' : 'absolute',
    control_mean: mean(values),
    shift: planned.shift,
    between_inputs: null,
    within_input: Math.sqrt(components.within_input),
    between_units: null,
    units: components.inputs,
    differing,
    pairs: components.pairs,
    pilot: {
      units: { deviation: 0, degrees: 0 },
      pairs: {
        deviation: Math.sqrt(2 * components.within_input),
        degrees: components.pairs - components.inputs,
      },
      pair_share: 0,
    },
    design_effect: 1,
    design: null,
  };
}

function estimateUnitSpread(
  request: SwitchbackResultsRequest,
  planned: FamilyIndicator,
  runs: readonly UnitObservation[],
): EstimatedSpread {
  const { definition } = request;
  const design = readSwitchbackDesign(definition);
  const { skippedUnits = 0 } = request;
  const plan = measurePlan(buildPlanUnits(request, runs), { design, skippedUnits, seed: definition.seed });
  const [measured] = measureIndicators(plan, [planned], definition.burnInMinutes ?? 0);
  if (!measured?.estimate) return null;
  const { estimate, scale, units } = measured;
  const deviation = estimate.spread / scale.factor;
  const counted = units.filter((unit) => unit.counted);
  const differing = countDistinct(counted);
  if (differing < DIFFERING_MIN)
    return {
      missing: `${explainFewDiffering(differing, counted.length, 'counted unit')} A unit differs here from the most frequent value of its side.`,
    };
  return {
    indicator: planned.indicator,
    compared: null,
    unit: 'unit',
    measure: scale.measure,
    control_mean: mean(counted.filter(({ isCandidate }) => !isCandidate).map((unit) => unit.mean)),
    shift: planned.shift,
    between_inputs: null,
    within_input: null,
    between_units: deviation,
    units: counted.length,
    differing,
    pairs: counted.length,
    pilot: {
      units: { deviation, degrees: estimate.degrees },
      pairs: { deviation: 0, degrees: 0 },
      pair_share: 0,
    },
    design_effect: 1 / estimateCountedShare(design),
    design,
  };
}

/** Counts the units without the most frequent value of their side, where several units share it. */
function countDistinct(units: readonly { isCandidate: boolean; mean: number }[]): number {
  const shared = [false, true].map((side) => {
    const counts = new Map<number, number>();
    for (const unit of units)
      if (unit.isCandidate === side) counts.set(unit.mean, (counts.get(unit.mean) ?? 0) + 1);
    const most = Math.max(1, ...counts.values());
    return most > 1 ? most : 0;
  });
  return shared.reduce((left, count) => left - count, units.length);
}
