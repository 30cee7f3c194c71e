/** The values of a form that starts an existing experiment again. */
import type { AcceptanceMetric } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import type { ExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { queryOptions } from '@tanstack/react-query';
import { operationQuery, queryClient } from '../../client/queries.ts';
import {
  type ExperimentDraft,
  formatEnsembleSide,
  METRIC_TYPES,
  OPERATORS,
  parseChoice,
  type RuleDraft,
} from './draft.ts';

type DraftValues = Partial<ExperimentDraft>;

/** An experiment of the application, whose settings fill the form. */
interface SourceAddress {
  application: string;
  type: ExperimentType;
  id: string;
}

/** The values of the form that the experiment was started with. */
export const sourceQuery = ({ application, type, id }: SourceAddress) =>
  queryOptions({
    queryKey: ['experimentSource', application, type, id],
    queryFn: () => readSource({ application, type, id }),
  });

async function readSource({ application, type, id }: SourceAddress): Promise<DraftValues> {
  const params = { application_id: application };
  switch (type) {
    case 'batch':
    case 'scenario':
      return readBatch(application, id);
    case 'acceptance':
      return readAcceptance(application, id);
    case 'shadow':
      return readShadow(
        await queryClient.fetchQuery(
          operationQuery('getShadowTestMetadata', { params: { ...params, shadow_id: id } }),
        ),
      );
    case 'switchback':
      return readSwitchback(
        await queryClient.fetchQuery(
          operationQuery('getSwitchbackTestMetadata', { params: { ...params, switchback_id: id } }),
        ),
      );
    case 'bisect':
      return readBisect(
        await queryClient.fetchQuery(
          operationQuery('getBisectExperimentMetadata', { params: { ...params, bisect_id: id } }),
        ),
      );
  }
}

const NAME_CHARS_MAX = 48;

/** Returns the name of the next experiment of this kind: `Cheaper 3` after `Cheaper 2`. */
export function nameNext(name: string): string {
  const [, base = name, count = '1'] = /^(.*?)(?: (\d{1,6}))?$/s.exec(name) ?? [];
  const next = ` ${Number(count) + 1}`;
  return `${base.slice(0, NAME_CHARS_MAX - next.length)}${next}`;
}

function readNames({ name, description }: { name: string; description: string }): DraftValues {
  return { name: nameNext(name), description };
}

/** Returns a share in percent, without the rounding error of the product. */
function formatPercent(share: number): string {
  return String(Number((share * 100).toPrecision(12)));
}

/** Returns a margin, tolerance or difference in the unit that the form shows. */
function formatAmount({ type, value }: { type: string; value: number }) {
  const isAbsolute = type === 'absolute';
  return {
    type: isAbsolute ? ('absolute' as const) : ('relative' as const),
    text: isAbsolute ? String(value) : formatPercent(value),
  };
}

interface ComparedExperiment {
  objectives?: Objectives | undefined;
  primary?: string | undefined;
  guardrails?: readonly string[] | undefined;
}

/** Returns the primary indicator with its settings, and the guardrails. */
export function readComparison({
  objectives = {},
  primary,
  guardrails = [],
}: ComparedExperiment): DraftValues {
  const indicator = primary ?? Object.keys(objectives)[0];
  if (indicator === undefined) return {};
  const objective = objectives[indicator] ?? 'none';
  const settings = typeof objective === 'string' ? { direction: objective } : objective;
  const margin = settings.margin && formatAmount(settings.margin);
  return {
    indicator,
    direction: settings.direction ?? 'none',
    ...(margin && { margin: margin.text, marginType: margin.type }),
    ...(settings.measure && { measure: settings.measure }),
    ...(settings.shift != null && { shift: String(settings.shift) }),
    ...(settings.tie_tolerance != null && { tieTolerance: formatPercent(settings.tie_tolerance) }),
    ...(settings.failure_margin != null && { failureMargin: formatPercent(settings.failure_margin) }),
    guardrails: guardrails.map((name) => {
      const guarded = objectives[name];
      const direction = typeof guarded === 'object' ? guarded.direction : guarded;
      return { indicator: name, direction: direction === 'maximize' ? 'maximize' : 'minimize' };
    }),
  };
}

const formatSide = (side: { instance_id: string; ensemble_id?: string | undefined }): string =>
  side.ensemble_id === undefined ? side.instance_id || 'latest' : formatEnsembleSide(side.ensemble_id);

async function readBatch(application: string, id: string): Promise<DraftValues> {
  const params = { application_id: application, batch_id: id };
  const batch = await queryClient.fetchQuery(operationQuery('getBatchExperiment', { params }));
  // An experiment on listed runs names its sides in the comparisons alone.
  const groups = batch.comparisons.flatMap(({ control, candidate }) => [control, candidate]);
  const sides = batch.instance_ids.length > 0 ? batch.instance_ids : [...new Set(groups.map(formatSide))];
  const [control, ...candidates] = sides;
  const sets = Object.keys(batch.option_sets).length;
  return {
    ...readNames(batch),
    ...readComparison(batch),
    inputSet: batch.input_set_id,
    ...(control !== undefined && { control, candidates }),
    repetitions: String(countRepetitions(batch.runs)),
    ...(batch.seeds && { seeds: batch.seeds.join(', ') }),
    ...(batch.seed_option !== undefined && { seedOption: batch.seed_option }),
    features: (batch.features ?? []).join(', '),
    clusterBy: (batch.cluster_by ?? []).join(', '),
    ...(sets > 0 && { optionSets: JSON.stringify(batch.option_sets, null, 2) }),
    usesRacing: batch.racing !== undefined,
    ...(batch.racing && { confidence: formatPercent(batch.racing.confidence) }),
  };
}

/** Returns how often each side ran each input. Seeds are repetitions too, and the form ignores the number then. */
function countRepetitions(runs: readonly { repetition: number | null }[]): number {
  return 1 + Math.max(0, ...runs.map(({ repetition }) => repetition ?? 0));
}

async function readAcceptance(application: string, id: string): Promise<DraftValues> {
  const params = { application_id: application };
  const test = await queryClient.fetchQuery(
    operationQuery('getAcceptanceTest', { params: { ...params, acceptance_id: id } }),
  );
  const batch = await queryClient.fetchQuery(
    operationQuery('getBatchExperiment', { params: { ...params, batch_id: test.experiment_id } }),
  );
  return {
    ...readNames(test),
    inputSet: batch.input_set_id,
    control: formatSide(test.control),
    candidates: [formatSide(test.candidate)],
    repetitions: String(countRepetitions(batch.runs)),
    features: (batch.features ?? []).join(', '),
    clusterBy: (batch.cluster_by ?? []).join(', '),
    ...(test.failure_margin !== undefined && { failureMargin: formatPercent(test.failure_margin) }),
    rules: test.metrics.map(readRule),
  };
}

/** Returns the rule of the form that the metric is. */
export function readRule({ field, statistic, metric_type, hypothesis, params }: AcceptanceMetric): RuleDraft {
  const tolerance = params.tolerance && formatAmount(params.tolerance);
  return {
    field,
    statistic,
    metricType: parseChoice(METRIC_TYPES, metric_type),
    operator: parseChoice(OPERATORS, params.operator),
    tolerance: tolerance?.text ?? '0',
    toleranceType: tolerance?.type ?? 'relative',
    usesBound: hypothesis === 'non-inferiority',
  };
}

interface ShadowSource extends ComparedExperiment {
  name: string;
  description: string;
  comparisons: readonly { baseline_instance_id: string; candidate_instance_ids: readonly string[] }[];
  termination_events: { maximum_runs: number };
  sample_share: number;
  cluster_by: readonly string[];
}

/** Times of the earlier test are over, so that the form has none. */
function readShadow(test: ShadowSource): DraftValues {
  const [compared] = test.comparisons;
  return {
    ...readNames(test),
    ...readComparison(test),
    ...(compared && {
      control: compared.baseline_instance_id,
      candidates: compared.candidate_instance_ids,
    }),
    maximumRuns: String(test.termination_events.maximum_runs),
    sampleShare: formatPercent(test.sample_share),
    originalClusters: test.cluster_by.join(', '),
  };
}

interface SwitchbackSource extends ComparedExperiment {
  name: string;
  description: string;
  comparison: { baseline_instance_id: string; candidate_instance_id: string };
  plan: {
    units: readonly { duration_minutes: number }[];
    design: ExperimentDraft['design'];
    carry_over_units: number;
    burn_in_minutes: number;
  };
}

function readSwitchback(test: SwitchbackSource): DraftValues {
  const { units, design, carry_over_units, burn_in_minutes } = test.plan;
  return {
    ...readNames(test),
    ...readComparison(test),
    control: test.comparison.baseline_instance_id,
    candidates: [test.comparison.candidate_instance_id],
    units: String(units.length),
    unitMinutes: String(units[0]?.duration_minutes ?? 60),
    design,
    carryOverUnits: String(carry_over_units),
    burnInMinutes: String(burn_in_minutes),
  };
}

interface BisectSource {
  name: string;
  description: string;
  input_set_id: string | null;
  input_ids: readonly string[];
  instance_id: string | null;
  indicator: string;
  good_version_id: string;
  bad_version_id: string;
  difference: { type: string; value: number };
  direction: 'minimize' | 'maximize';
  confidence: number;
  maximum_runs: number;
}

function readBisect(search: BisectSource): DraftValues {
  const difference = formatAmount(search.difference);
  return {
    ...readNames(search),
    inputSet: search.input_set_id ?? '',
    ...(search.input_set_id === null && { inputIds: search.input_ids.join(', ') }),
    control: search.instance_id ?? 'latest',
    indicator: search.indicator,
    direction: search.direction,
    goodVersion: search.good_version_id,
    badVersion: search.bad_version_id,
    difference: difference.text,
    differenceType: difference.type,
    confidence: formatPercent(search.confidence),
    searchRuns: String(search.maximum_runs),
  };
}
