/** Evaluates an acceptance test from the runs of its batch. Pure. */
import type { AcceptanceResults, MetricResult } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { RunFailure } from '../../runs/store/failures.ts';
import {
  decideMetric,
  flattenDistribution,
  type Metric,
  type MetricDecision,
} from '../statistics/acceptance-metrics.ts';
import { RESAMPLE_COUNT, Resampler } from '../statistics/bootstrap.ts';
import { findReportedValue, type Observation } from '../statistics/observations.ts';
import { type Comparison, compareFamily, type FamilyIndicator } from '../statistics/paired/family.ts';
import { type Distribution, summarize } from '../statistics/summary.ts';
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

import { DEFAULT_INDICATOR } from './select-indicators.ts';

type Side = MetricResult['statistics']['control'];

const RESAMPLING_SEED = 'switchyard';

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

/** Appends the reasons of runs without a value to the reason of the decision, which does not count these runs. */
function addReasons(metric: Metric, decision: MetricDecision, { control, candidate }: Sides): MetricDecision {
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

/** Returns the direction that a rule implies. A rule of equality implies none; `minimize` is the default of objectives. */
function findDirection({ params }: Metric): 'minimize' | 'maximize' {
  return params.operator === 'gt' || params.operator === 'ge' ? 'maximize' : 'minimize';
}

const formatComparisonKey = (metric: Metric): string => JSON.stringify([metric.field, findDirection(metric)]);

/** Compares each pair of an indicator and a direction once, as one family of tests. */
function compareIndicatorsOnce(
  metrics: readonly Metric[],
  control: readonly Observation[],
  candidate: readonly Observation[],
): Map<string, Comparison> {
  const metricByKey = new Map(metrics.map((metric) => [formatComparisonKey(metric), metric]));
  const indicators = [...metricByKey.values()].map(
    (metric): FamilyIndicator => ({
      ...DEFAULT_INDICATOR,
      indicator: metric.field,
      role: 'primary',
      direction: findDirection(metric),
    }),
  );
  const [comparisons = []] = compareFamily([{ control, candidate }], indicators, {
    unit: 'input',
    serial: false,
    clusterings: [],
    progress: 'complete',
    listIndicatorBlockers: () => [],
    resampler: new Resampler({ seed: RESAMPLING_SEED, resamples: RESAMPLE_COUNT }),
  });
  return new Map(
    [...metricByKey.keys()].flatMap((key, index): [string, Comparison][] => {
      const comparison = comparisons[index];
      return comparison ? [[key, comparison]] : [];
    }),
  );
}

function findComparison(comparisons: ReadonlyMap<string, Comparison>, metric: Metric): Comparison {
  const comparison = comparisons.get(formatComparisonKey(metric));
  if (!comparison) throw new Error(`The indicator ${JSON.stringify(metric.field)} has no comparison.`);
  return comparison;
}

/** Summarises the numbers of the runs that succeeded; returns null when there are none. */
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
