/** The request that creates the experiment of a form. */
import type { CallRequest } from '@switchyard/contract/client.ts';
import type { ExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { splitList } from '../../ui/forms/split-text.ts';
import {
  type ExperimentDraft,
  parseEnsembleSide,
  type RuleDraft,
  readListedRuns,
  readOptionSets,
} from './draft.ts';

type RequestBody<Id extends keyof Operations> =
  CallRequest<Operations[Id]> extends { body: infer Body } ? Body : never;

/** The operation that creates the experiment, with its body. */
export type ExperimentRequest =
  | { operation: 'createBatchExperiment'; body: RequestBody<'createBatchExperiment'> }
  | { operation: 'createAcceptanceTest'; body: RequestBody<'createAcceptanceTest'> }
  | { operation: 'createShadowTest'; body: RequestBody<'createShadowTest'> }
  | { operation: 'createSwitchbackTest'; body: RequestBody<'createSwitchbackTest'> }
  | { operation: 'createBisectExperiment'; body: RequestBody<'createBisectExperiment'> };

/** Returns the request of the form. Throws a SyntaxError if the option sets or the listed runs are not JSON. */
export function buildRequest(type: ExperimentType, draft: ExperimentDraft): ExperimentRequest {
  const description = draft.description.trim();
  const named = {
    id: draft.id || suggestId(draft.name),
    name: draft.name.trim(),
    ...(description && { description }),
  };
  switch (type) {
    case 'batch':
    case 'scenario':
      return { operation: 'createBatchExperiment', body: { ...named, ...buildBatch(type, draft) } };
    case 'acceptance':
      return { operation: 'createAcceptanceTest', body: { ...named, ...buildAcceptance(draft) } };
    case 'shadow':
      return { operation: 'createShadowTest', body: { ...named, ...buildShadow(draft) } };
    case 'switchback':
      return { operation: 'createSwitchbackTest', body: { ...named, ...buildSwitchback(draft) } };
    case 'bisect':
      return { operation: 'createBisectExperiment', body: { ...named, ...buildBisect(draft) } };
  }
}

/** Returns a share: `5` percent is 0.05, without the rounding error of a division. */
function readPercent(text: string): number {
  return Number((Number(text) / 100).toPrecision(12));
}

/** Returns the amount as the API has it: a share of the control, or a number in the unit of the indicator. */
function readAmount(type: 'relative' | 'absolute', text: string) {
  return { type, value: type === 'relative' ? readPercent(text) : Number(text) };
}

/** Returns the objectives, the primary indicator and the guardrails. A direction alone is a text. */
function buildComparison(draft: ExperimentDraft) {
  const { indicator, direction, margin, marginType, measure, shift, tieTolerance } = draft;
  const { failureMargin, guardrails } = draft;
  const isDefaultMargin = marginType === 'relative' && (margin === '1' || margin === '');
  const settings = {
    ...(!isDefaultMargin && { margin: readAmount(marginType, margin) }),
    ...(measure !== 'auto' && { measure }),
    ...(Number(shift) !== 0 && { shift: Number(shift) }),
    ...(tieTolerance.trim() && { tie_tolerance: readPercent(tieTolerance) }),
    ...(failureMargin.trim() && { failure_margin: readPercent(failureMargin) }),
  };
  const watched = guardrails.filter((guardrail) => guardrail.indicator !== indicator);
  return {
    objectives: {
      ...Object.fromEntries(watched.map((guardrail) => [guardrail.indicator, guardrail.direction])),
      [indicator]: Object.keys(settings).length === 0 ? direction : { direction, ...settings },
    },
    primary: indicator,
    ...(watched.length > 0 && { guardrails: watched.map((guardrail) => guardrail.indicator) }),
  };
}

function buildInputProperties({ features, clusterBy }: ExperimentDraft) {
  return {
    ...(features.trim() && { features: splitList(features) }),
    ...(clusterBy.trim() && { cluster_by: splitList(clusterBy) }),
  };
}

/** Returns the side of a run or of an acceptance test. */
function buildSide(side: string) {
  const ensemble = parseEnsembleSide(side);
  return ensemble === undefined ? { instance_id: side } : { ensemble_id: ensemble };
}

function buildBatch(type: 'batch' | 'scenario', draft: ExperimentDraft) {
  return {
    ...(type === 'scenario' && { type, option_sets: readOptionSets(draft.optionSets) }),
    ...(draft.inputSet !== '' && { input_set_id: draft.inputSet }),
    ...buildSides(type, draft),
    ...buildComparison(draft),
    ...buildInputProperties(draft),
    ...(type === 'scenario' &&
      draft.usesRacing && {
        racing: draft.confidence === '95' ? {} : { confidence: readPercent(draft.confidence) },
      }),
  };
}

/** Returns the instances, or the runs one by one where the form lists them or a side is an ensemble. */
function buildSides(type: 'batch' | 'scenario', draft: ExperimentDraft) {
  const listed = readListedRuns(draft);
  if (listed !== undefined) return { runs: listed };
  const sides = [draft.control, ...draft.candidates];
  const seeds = splitList(draft.seeds);
  const seeded = { seeds, ...(draft.seedOption !== 'seed' && { seed_option: draft.seedOption }) };
  if (sides.every((side) => parseEnsembleSide(side) === undefined))
    return {
      instance_ids: sides,
      ...(seeds.length > 0
        ? seeded
        : draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
    };
  const sets = type === 'scenario' ? Object.keys(readOptionSets(draft.optionSets)) : [];
  // The first set of the control is what the others are compared with.
  const configurations = sides.flatMap((side) =>
    sets.length === 0 ? [buildSide(side)] : sets.map((set) => ({ ...buildSide(side), option_set: set })),
  );
  const repetitions = Array.from(
    { length: Math.max(Number(draft.repetitions) || 1, 1) },
    (_, index) => index,
  );
  return {
    runs: configurations.flatMap((configuration) =>
      repetitions.map((repetition) => ({ ...configuration, ...(repetition > 0 && { repetition }) })),
    ),
    // The server refuses seeds beside runs, and says what to do.
    ...(seeds.length > 0 && seeded),
  };
}

function buildAcceptance(draft: ExperimentDraft) {
  return {
    control: buildSide(draft.control),
    candidate: buildSide(draft.candidates[0] ?? ''),
    ...(draft.batch === ''
      ? {
          input_set_id: draft.inputSet,
          ...(draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
          ...buildInputProperties(draft),
        }
      : { experiment_id: draft.batch }),
    ...(draft.failureMargin.trim() && { failure_margin: readPercent(draft.failureMargin) }),
    metrics: draft.rules.map(buildMetric),
  };
}

function buildMetric(rule: RuleDraft) {
  const isDirect = rule.metricType === 'direct-comparison';
  return {
    field: rule.field,
    statistic: rule.statistic,
    metric_type: rule.metricType,
    ...(isDirect && rule.usesBound && { hypothesis: 'non-inferiority' as const }),
    params: {
      operator: rule.operator,
      ...((!isDirect || Number(rule.tolerance) !== 0) && {
        tolerance: readAmount(rule.toleranceType, rule.tolerance),
      }),
    },
  };
}

/** Returns the time of the form in UTC; the text itself if it is no time, which the server refuses. */
function readTime(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

function buildShadow(draft: ExperimentDraft) {
  return {
    comparisons: { [draft.control]: [...draft.candidates] },
    termination_events: {
      maximum_runs: Number(draft.maximumRuns),
      ...(draft.endTime && { time: readTime(draft.endTime) }),
    },
    ...(draft.startTime && { start_events: { time: readTime(draft.startTime) } }),
    ...(draft.sampleShare !== '100' && { sample_share: readPercent(draft.sampleShare) }),
    ...(draft.originalClusters.trim() !== 'caller' && {
      cluster_by: splitList(draft.originalClusters),
    }),
    ...buildComparison(draft),
  };
}

function buildSwitchback(draft: ExperimentDraft) {
  return {
    comparison: {
      baseline_instance_id: draft.control,
      candidate_instance_id: draft.candidates[0] ?? '',
    },
    generate_random_plan: {
      unit_duration_minutes: Number(draft.unitMinutes),
      units: Number(draft.units),
      design: draft.design,
      carry_over_units: Number(draft.carryOverUnits),
      ...(Number(draft.burnInMinutes) !== 0 && { burn_in_minutes: Number(draft.burnInMinutes) }),
      ...(draft.startTime && { start: readTime(draft.startTime) }),
    },
    ...buildComparison(draft),
  };
}

function buildBisect(draft: ExperimentDraft) {
  return {
    ...(draft.inputSet === '' ? { input_ids: splitList(draft.inputIds) } : { input_set_id: draft.inputSet }),
    instance_id: draft.control === 'latest' ? null : draft.control,
    indicator: draft.indicator,
    good_version_id: draft.goodVersion,
    bad_version_id: draft.badVersion,
    difference: readAmount(draft.differenceType, draft.difference),
    direction: draft.direction === 'maximize' ? ('maximize' as const) : ('minimize' as const),
    ...(draft.confidence !== '95' && { confidence: readPercent(draft.confidence) }),
    ...(draft.searchRuns.trim() && { maximum_runs: Number(draft.searchRuns) }),
  };
}
