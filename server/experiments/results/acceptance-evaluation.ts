/** Evaluates an acceptance test from the runs of its batch. Pure. */
import type { AcceptanceResults, MetricResult } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { RunFailure } from '../../runs/store/failures.ts';
import {
  decideMetric,
  flattenDistribution,
  type Metric,
  type MetricDecision,
} from '../statistics/acceptance-metrics.ts';
import { type Comparison, compareIndicator } from '../statistics/comparison.ts';
import { findReportedValue, type Observation } from '../statistics/observations.ts';
import { type Distribution, summarize } from '../statistics/summary.ts';
import type { Objective } from '../statistics/verdict.ts';
import { adjustHolm } from '../statistics/wilcoxon.ts';
import {
  type AcceptanceDefinition,
  type AcceptanceSide,
  belongsToSide,
} from '../store/acceptance-definition.ts';
import {
  collectSideRuns,
  explainLostRuns,
  explainMissingValues,
  type SideRuns,
} from './acceptance-reasons.ts';

type Side = MetricResult['statistics']['control'];

/** A request for the results of an acceptance test whose batch has ended. */
export interface AcceptanceResultsRequest {
  kind: 'acceptance';
  definition: AcceptanceDefinition;
  /** The status of the batch. */
  status: 'completed' | 'failed';
  /** The errors of failed runs of the batch. */
  failures: readonly RunFailure[];
}

/** Decides every rule of the test. */
export function evaluateAcceptanceTest(
  { definition: { control, candidate, metrics }, status, failures }: AcceptanceResultsRequest,
  observations: readonly Observation[],
): AcceptanceResults & { metric_results: MetricResult[] } {
  const controls = observations.filter((run) => belongsToSide(control, run));
  const candidates = observations.filter((run) => belongsToSide(candidate, run));
  const sides = {
    control: collectSideRuns('control', control, controls, failures),
    candidate: collectSideRuns('candidate', candidate, candidates, failures),
  };
  const comparisons = compareIndicatorsOnce(metrics, controls, candidates);
  const metric_results = metrics.map((metric): MetricResult => {
    const distributions = {
      control: summarizeSucceeded(controls, metric.field),
      candidate: summarizeSucceeded(candidates, metric.field),
    };
    return {
      metric,
      ...addReasons(metric, decideMetric(metric, distributions.control, distributions.candidate), sides),
      statistics: {
        control: formatSide(control, controls, distributions.control),
        candidate: formatSide(candidate, candidates, distributions.candidate),
      },
      comparison: findComparison(comparisons, metric),
    };
  });
  return {
    passed: status === 'completed' && metric_results.every(({ passed }) => passed),
    ...(status === 'failed' ? { error: formatError(sides) } : {}),
    metric_results,
  };
}

type Sides = Record<'control' | 'candidate', SideRuns>;

/** The decision, with what is known of runs that gave no value: they are not in it. */
function addReasons(metric: Metric, decision: MetricDecision, { control, candidate }: Sides): MetricDecision {
  const used = metric.metric_type === 'absolute-threshold' ? [candidate] : [control, candidate];
  const sentences = used.flatMap((side) => [
    ...explainLostRuns(side),
    explainMissingValues(side, metric.field),
  ]);
  const told = sentences.filter((sentence) => sentence !== null);
  return { ...decision, reason: [decision.reason, ...told].join(' ') };
}

function formatError({ control, candidate }: Sides): string {
  const told = [control, candidate].flatMap(explainLostRuns);
  return ['No run of the batch experiment succeeded.', ...told].join(' ');
}

/** Which way a rule wants the indicator to go. A rule of equality says nothing about it; then less is better. */
function findObjective({ params }: Metric): Objective {
  return params.operator === 'gt' || params.operator === 'ge' ? 'maximize' : 'minimize';
}

const formatComparisonKey = (metric: Metric): string => JSON.stringify([metric.field, findObjective(metric)]);

/** Each indicator and objective once, with the p-values adjusted for all of them. */
function compareIndicatorsOnce(
  metrics: readonly Metric[],
  controls: readonly Observation[],
  candidates: readonly Observation[],
): Map<string, Comparison> {
  const wanted = new Map(metrics.map((metric) => [formatComparisonKey(metric), metric]));
  const comparisons = [...wanted.values()].map((metric) =>
    compareIndicator(controls, candidates, metric.field, { objective: findObjective(metric) }),
  );
  const adjusted = adjustHolm(comparisons.map(({ wilcoxon }) => wilcoxon.p_value));
  return new Map(
    [...wanted.keys()].flatMap((key, index): [string, Comparison][] => {
      const found = comparisons[index];
      if (!found) return [];
      const wilcoxon = { ...found.wilcoxon, p_value_holm: adjusted[index] ?? null };
      return [[key, { ...found, wilcoxon }]];
    }),
  );
}

function findComparison(comparisons: ReadonlyMap<string, Comparison>, metric: Metric): Comparison {
  const found = comparisons.get(formatComparisonKey(metric));
  if (!found) throw new Error(`${metric.field} was not compared.`);
  return found;
}

/** Of the runs that succeeded with a number. */
function summarizeSucceeded(runs: readonly Observation[], field: string): Distribution | null {
  return summarize(
    runs.filter((run) => run.status === 'succeeded').map((run) => findReportedValue(run, field)),
  );
}

function formatSide(
  { instance_id }: AcceptanceSide,
  runs: readonly Observation[],
  distribution: Distribution | null,
): Side {
  const versions = new Set(runs.map((run) => run.version_id));
  const [version = ''] = versions;
  return {
    instance_id,
    version_id: versions.size === 1 ? version : '',
    number_of_runs_total: runs.length,
    ...flattenDistribution(distribution),
  };
}
