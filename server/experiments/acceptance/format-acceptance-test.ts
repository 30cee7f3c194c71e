/** Formats response bodies of acceptance tests. */
import type { AcceptanceTest, MetricResult } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { formatRfc3339 } from '../../clock.ts';
import { parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import type { ListedAcceptanceTest } from '../store/acceptance-tests.ts';

/** Formats the test without the results of its rules. */
export function formatAcceptanceSummary(test: ListedAcceptanceTest): AcceptanceTest {
  const { passed, error } = test;
  return {
    id: test.id,
    app_id: test.application_id,
    name: test.name,
    description: test.description,
    status: test.status,
    experiment_id: test.experiment_id,
    ...parseAcceptanceDefinition(test),
    ...(passed === null ? {} : { results: { passed: passed === 1, ...(error === '' ? {} : { error }) } }),
    created_at: formatRfc3339(test.created_at),
    updated_at: formatRfc3339(test.updated_at),
  };
}

/** Formats the test with the results of its rules. */
export function formatAcceptanceTest(test: AcceptanceTestsTable): AcceptanceTest {
  const { results, ...info } = formatAcceptanceSummary(test);
  if (!results) return info;
  const metric_results = JSON.parse(test.metric_results ?? '[]') as MetricResult[];
  return { ...info, results: { ...results, metric_results } };
}
