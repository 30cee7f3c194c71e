/** Evaluates an acceptance test from the runs of its batch. Pure. */
import { type AcceptanceResults, MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import Type, { type Static } from 'typebox';
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import type { RunFailure } from '../../runs/store/failures.ts';
import {
  collectEvidence,
  decideRule,
  decideTie,
  findObjection,
  type IndicatorEvidence,
  type RuleDecision,
} from '../statistics/acceptance/decide-rule.ts';
import {
  explainDeletedInputs,
  explainJoinedSides,
  explainMixedSides,
  type SideObservations,
  selectDecidingRuns,
  warnOfMissingRuns,
} from '../statistics/acceptance/solved-inputs.ts';
import { flattenDistribution, Metric } from '../statistics/acceptance-metrics.ts';
import { RESAMPLE_COUNT, Resampler } from '../statistics/bootstrap.ts';
import type { Direction } from '../statistics/comparison/effect-scale.ts';
import type { FamilyIndicator } from '../statistics/comparison/pipeline.ts';
import { addInteractions } from '../statistics/features.ts';
import { type Observation, selectExisting } from '../statistics/observations.ts';
import { compareFamily, type FamilyDesign } from '../statistics/paired/family.ts';
import type { Distribution } from '../statistics/summaries.ts';
import {
  type AcceptanceDefinition,
  type AcceptanceSide,
  belongsToSide,
} from '../store/acceptance-definition.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import {
  collectSideRuns,
  explainLostRuns,
  explainMissingValues,
  type SideRuns,
} from './acceptance-reasons.ts';
import { designByInput } from './batch-analysis.ts';
import { profileIndicators } from './profile-groups.ts';
import {
  DEFAULT_INDICATOR,
  listNamedIndicators,
  replaceFlags,
  selectIndicators,
} from './select-indicators.ts';
import { createTimeBlockers } from './time-blockers.ts';

type Side = MetricResult['statistics']['control'];

const RESAMPLING_SEED = 'switchyard';

/** A request for the results of an acceptance test whose batch has ended. */
export interface AcceptanceResultsRequest {
  kind: 'acceptance';
  definition: AcceptanceDefinition;
  /** The clusterings and features of the batch. */
  inputs: Pick<ComparisonSettings, 'cluster_by' | 'features'>;
  /** The status of the batch. */
  status: 'completed' | 'failed';
  /** The errors of failed runs of the batch. */
  failures: readonly RunFailure[];
  /** The ids of the inputs whose runs the batch has planned. */
  planned_inputs: readonly string[];
  /** True when the planned inputs are in the order of their times. */
  inputs_in_time_order: boolean;
}

/** The stored result of a rule. A response has the rule in the form of the API. */
export const EvaluatedRule = Type.Object({ ...MetricResult.properties, metric: Metric });
export type EvaluatedRule = Static<typeof EvaluatedRule>;

/** Results without the method of analysis, which every kind of results has. */
type EvaluatedTest = Omit<AcceptanceResults, 'method' | 'metric_results'> & {
  metric_results: EvaluatedRule[];
  profiles: IndicatorProfile[];
};

/** Decides every rule of the test. */
export function evaluateAcceptanceTest(
  request: AcceptanceResultsRequest,
  observations: readonly Observation[],
): EvaluatedTest {
  const { definition, inputs, status, failures, planned_inputs, inputs_in_time_order } = request;
  const { control, candidate, metrics, failure_margin } = definition;
  const fields = resolveFields(
    metrics,
    placeInputs(observations, inputs_in_time_order ? planned_inputs : []),
  );
  const runs = {
    control: selectDecidingRuns(fields.observations.filter((run) => belongsToSide(control, run))),
    candidate: selectDecidingRuns(fields.observations.filter((run) => belongsToSide(candidate, run))),
  };
  const sides = {
    control: collectSideRuns('control', control, selectExisting(runs.control), failures),
    candidate: collectSideRuns('candidate', candidate, selectExisting(runs.candidate), failures),
  };
  const selected = [
    ...explainDeletedInputs(planned_inputs, observations),
    ...explainJoinedSides(runs),
    ...explainMixedSides(runs),
  ];
  const listTimeBlockers = createTimeBlockers();
  const shared = {
    resampler: new Resampler({ seed: RESAMPLING_SEED, resamples: RESAMPLE_COUNT }),
    listIndicatorBlockers: (indicator: string, group: SideObservations) => [
      ...selected,
      ...listTimeBlockers(indicator, group),
    ],
    ...designByInput(inputs, inputs_in_time_order),
    features: inputs.features ?? [],
  };
  const indicators = resolveIndicators(definition, fields.settings);
  const comparisons = compareIndicatorsOnce(indicators, runs, shared);
  const evidence = collectEvidenceOnce(metrics, runs);
  const missing = warnOfMissingRuns(planned_inputs, observations, runs);
  const metric_results = metrics.map((metric): EvaluatedRule => {
    const found = findByKey(evidence, metric.field);
    const settings = { ...findByKey(fields.settings, metric.field), ...shared, failure_margin };
    const comparison = findByKey(comparisons, formatComparisonKey(metric));
    const decision = refuseSelectedRuns(
      decideTie(metric, decideRule(metric, found, settings), comparison, findObjection(found, settings)),
      selected,
    );
    return {
      metric,
      ...addReasons(metric, decision, sides),
      warnings: decision.passed ? [...decision.warnings, ...missing] : [],
      statistics: {
        control: formatSide(control, runs.control, found.all.control),
        candidate: formatSide(candidate, runs.candidate, found.all.candidate),
      },
      comparison,
    };
  });
  return {
    passed: status === 'completed' && metric_results.every(({ passed }) => passed),
    ...(status === 'failed' ? { error: formatError(sides) } : {}),
    metric_results,
    profiles: status === 'failed' ? [] : profileFields(definition, runs, [...indicators.values()]),
  };
}

/** Returns the decision, not met where somebody deleted more than 1 % of the inputs, or chose the runs of a side. */
function refuseSelectedRuns(decision: RuleDecision, reasons: readonly string[]): RuleDecision {
  if (reasons.length === 0) return decision;
  const added = reasons.filter((text) => !decision.reason.includes(text));
  return { ...decision, passed: false, reason: [decision.reason, ...added].join(' '), warnings: [] };
}

/** Returns the runs with the positions of their inputs; inputs that have none come last. */
function placeInputs(runs: readonly Observation[], inputs: readonly string[]): readonly Observation[] {
  if (inputs.length === 0) return runs;
  const positions = new Map(inputs.map((id, position) => [id, position]));
  return runs.map((run) => ({ ...run, position: positions.get(run.input_id) ?? inputs.length }));
}

type FieldSettings = Omit<FamilyIndicator, 'indicator' | 'role'>;

/** Returns the settings of each field, and the runs with 1 and 0 for true and false in the fields that are flags. */
function resolveFields(
  metrics: readonly Metric[],
  runs: readonly Observation[],
): { settings: Map<string, FieldSettings>; observations: readonly Observation[] } {
  const fields = [...new Set(metrics.map(({ field }) => field))];
  const objectives = Object.fromEntries(fields.map((field) => [field, 'none' as const]));
  const named = listNamedIndicators({ objectives });
  const indicators = selectIndicators(runs, { objectives }, Number.POSITIVE_INFINITY).indicators.filter(
    ({ indicator }) => named.has(indicator),
  );
  const settings = fields.map((field): [string, FieldSettings] => {
    const names = listIndicatorNames(field);
    return [field, indicators.find(({ indicator }) => names.includes(indicator)) ?? DEFAULT_INDICATOR];
  });
  return { settings: new Map(settings), observations: replaceFlags(runs, indicators) };
}

type Sides = Record<'control' | 'candidate', SideRuns>;

/** Appends the reasons of runs without a value to the reason of the decision. */
function addReasons(metric: Metric, decision: RuleDecision, { control, candidate }: Sides): RuleDecision {
  const used = metric.metric_type === 'absolute-threshold' ? [candidate] : [control, candidate];
  const explanations = used.flatMap((side) => [
    ...explainLostRuns(side),
    explainMissingValues(side, metric.field),
  ]);
  const texts = explanations.filter((text) => text !== null);
  return { ...decision, reason: [decision.reason, ...texts].join(' ') };
}

function formatError({ control, candidate }: Sides): string {
  const reasons = [control, candidate].flatMap(explainLostRuns);
  return ['No run of the batch experiment succeeded.', ...reasons].join(' ');
}

/** Returns the direction that the operator of a rule implies; a rule of equality implies none. */
function findDirection({ params: { operator } }: Metric): Direction {
  if (operator === 'eq' || operator === 'ne') return 'none';
  return operator === 'gt' || operator === 'ge' ? 'maximize' : 'minimize';
}

const formatComparisonKey = (metric: Metric): string => JSON.stringify([metric.field, findDirection(metric)]);

/** Returns each pair of an indicator and a direction once, by the key of its comparison. */
function resolveIndicators(
  { metrics, failure_margin }: AcceptanceDefinition,
  settings: ReadonlyMap<string, FieldSettings>,
): Map<string, FamilyIndicator> {
  return new Map(
    metrics.map((metric): [string, FamilyIndicator] => {
      const found = findByKey(settings, metric.field);
      const type = found.value_type === 'flag' ? 'absolute' : 'relative';
      const key = formatComparisonKey(metric);
      const declared = metrics.flatMap((one) =>
        one.largest_loss === undefined || formatComparisonKey(one) !== key ? [] : [one.largest_loss],
      );
      const indicator: FamilyIndicator = {
        ...found,
        indicator: metric.field,
        role: 'primary',
        direction: findDirection(metric),
        // Rules that share a comparison may declare several.
        largest_loss: declared.length === 0 ? null : { type, value: Math.max(...declared) },
        failure_margin: failure_margin ?? null,
      };
      return [key, indicator];
    }),
  );
}

/** Profiles each field once, with the direction of its first rule that has one. */
function profileFields(
  { control, candidate }: AcceptanceDefinition,
  runs: SideObservations,
  indicators: readonly FamilyIndicator[],
): IndicatorProfile[] {
  const byField = new Map<string, FamilyIndicator>();
  for (const one of indicators)
    if ((byField.get(one.indicator)?.direction ?? 'none') === 'none') byField.set(one.indicator, one);
  const groups = [
    { ...describeSide(control, runs.control), runs: selectExisting(runs.control) },
    { ...describeSide(candidate, runs.candidate), runs: selectExisting(runs.candidate) },
  ];
  return profileIndicators(groups, [...byField.values()]);
}

/** Compares each indicator, as one family of tests, with the interactions of its features. */
function compareIndicatorsOnce(
  indicators: ReadonlyMap<string, FamilyIndicator>,
  runs: SideObservations,
  { features, ...shared }: Omit<FamilyDesign, 'progress'> & { features: string[] },
): Map<string, Comparison> {
  const family = [...indicators.values()];
  const design: FamilyDesign = { progress: 'complete', ...shared };
  const [comparisons = []] = addInteractions(
    compareFamily([runs], family, design),
    { groups: [runs], indicators: family, features },
    design,
  );
  return new Map(
    [...indicators.keys()].flatMap((key, index): [string, Comparison][] => {
      const comparison = comparisons[index];
      return comparison ? [[key, comparison]] : [];
    }),
  );
}

function collectEvidenceOnce(
  metrics: readonly Metric[],
  runs: SideObservations,
): Map<string, IndicatorEvidence> {
  const fields = new Set(metrics.map(({ field }) => field));
  return new Map([...fields].map((field) => [field, collectEvidence(runs, field)]));
}

function findByKey<Value>(values: ReadonlyMap<string, Value>, key: string): Value {
  const value = values.get(key);
  if (value === undefined) throw new Error(`The rule on ${key} was not computed.`);
  return value;
}

function describeSide(
  { instance_id, ensemble_id }: AcceptanceSide,
  runs: readonly Observation[],
): Pick<Side, 'instance_id' | 'version_id' | 'ensemble_id'> {
  const versions = new Set(runs.map((run) => run.version_id));
  const [version = ''] = versions;
  return {
    instance_id,
    version_id: versions.size === 1 ? version : '',
    ...(ensemble_id === undefined ? {} : { ensemble_id }),
  };
}

function formatSide(
  side: AcceptanceSide,
  runs: readonly Observation[],
  distribution: Distribution | null,
): Side {
  return {
    ...describeSide(side, runs),
    number_of_runs_total: selectExisting(runs).length,
    ...flattenDistribution(distribution),
  };
}
