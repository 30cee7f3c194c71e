/** Formats response bodies of acceptance tests. */

import type { AcceptanceMetric, MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import { decideRules } from '@switchyard/contract/experiments/presentation/decide-release.ts';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import Type from 'typebox';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { applyQuestion, formatQuestion, type RememberedQuestion } from '../questions/describe-question.ts';
import { EvaluatedRule } from '../results/acceptance-evaluation.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';
import { type AcceptanceDefinition, parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import type { ListedAcceptanceTest } from '../store/acceptance-tests.ts';
import { readStoredMethod } from '../store/analysis-method.ts';

/** Formats the test without the results of its rules. */
export function formatAcceptanceSummary(test: ListedAcceptanceTest): AcceptanceTest {
  const { passed, error } = test;
  const method = readStoredMethod(test);
  const definition = parseAcceptanceDefinition(test);
  return {
    id: test.id,
    app_id: test.application_id,
    name: test.name,
    description: test.description,
    status: test.status,
    experiment_id: test.experiment_id,
    ...definition,
    metrics: definition.metrics.map(formatMetric),
    tests_on_batch: test.tests_on_batch,
    warnings: listWarnings(definition, test.tests_on_batch),
    ...(passed === null
      ? {}
      : { results: { passed: passed === 1, ...(error === '' ? {} : { error }), method } }),
    created_at: formatRfc3339(test.created_at),
    updated_at: formatRfc3339(test.updated_at),
  };
}

/** Formats a rule. The published client raises an error for any metric type that it does not know. */
function formatMetric({ metric_type, params, ...rule }: Metric): AcceptanceMetric {
  if (metric_type !== 'non-inferiority') return { ...rule, metric_type, params };
  return { ...rule, metric_type: 'direct-comparison', hypothesis: metric_type, params };
}

/** Says how far the rules can be trusted: whether they came before the results, and how many tests had a chance to pass. */
function listWarnings({ rules_before_results }: AcceptanceDefinition, testsOnBatch: number): string[] {
  const warnings: string[] = [];
  if (!rules_before_results)
    warnings.push(
      'The rules came after a result of the batch, or of an earlier experiment on the same inputs, so somebody may have fitted them to it. Decide by a new batch on new inputs.',
    );
  if (testsOnBatch > 1)
    warnings.push(
      `${testsOnBatch} acceptance tests were made on this batch, and their error rates add up: with non-inferiority, one of them passes a candidate wrongly in up to ${formatPercent(Math.min(1, testsOnBatch * ERROR_RATE))} of cases instead of ${formatPercent(ERROR_RATE)}.`,
    );
  return warnings;
}

/** The largest share of tests in which a non-inferiority rule passes a candidate whose loss is the tolerance. */
const ERROR_RATE = 0.05;

const parseMetricResults = parseColumn(
  'acceptance_tests',
  'uid',
  'metric_results',
  Type.Array(EvaluatedRule),
);
const parseProfiles = parseColumn('acceptance_tests', 'uid', 'profiles', Type.Array(IndicatorProfile));

/** Formats the test with the results of its rules, and the decision that depends on its question too. */
export function formatAcceptanceTest(
  test: AcceptanceTestsTable,
  question: RememberedQuestion | undefined,
): AcceptanceTest {
  const { results, ...info } = formatAcceptanceSummary(test);
  if (!results) return info;
  const rules = parseMetricResults(test) ?? [];
  const metric_results = rules.map((rule): MetricResult => ({ ...rule, metric: formatMetric(rule.metric) }));
  const profiles = parseProfiles(test) ?? [];
  const formatted = { ...results, metric_results };
  const decision = decideRules({ ...info, results: formatted });
  return {
    ...info,
    ...(decision === undefined ? {} : { decision: applyQuestion(decision, question) }),
    ...formatQuestion(question),
    results: { ...formatted, ...(profiles.length === 0 ? {} : { profiles }) },
  };
}
