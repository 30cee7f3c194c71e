/** Formats response bodies of acceptance tests. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { formatRfc3339 } from '../../clock.ts';
import { parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import type { ListedAcceptanceTest } from '../store/acceptance-tests.ts';
import { readStoredMethod } from '../store/analysis-method.ts';

/** Formats the test without the results of its rules; `testsOnBatch` counts the tests on its batch. */
export function formatAcceptanceSummary(test: ListedAcceptanceTest, testsOnBatch: number): AcceptanceTest {
  const { passed, error } = test;
  const method = readStoredMethod(test);
  return {
    id: test.id,
    app_id: test.application_id,
    name: test.name,
    description: test.description,
    status: test.status,
    experiment_id: test.experiment_id,
    ...parseAcceptanceDefinition(test),
    tests_on_batch: testsOnBatch,
    ...(passed === null
      ? {}
      : { results: { passed: passed === 1, ...(error === '' ? {} : { error }), method } }),
    created_at: formatRfc3339(test.created_at),
    updated_at: formatRfc3339(test.updated_at),
  };
}

/** Formats the test with the results of its rules. */
export function formatAcceptanceTest(test: AcceptanceTestsTable, testsOnBatch: number): AcceptanceTest {
  const { results, ...info } = formatAcceptanceSummary(test, testsOnBatch);
  if (!results) return info;
  const metric_results = JSON.parse(test.metric_results ?? '[]') as MetricResult[];
  return { ...info, results: { ...results, metric_results } };
}
