/** What callers are shown of an acceptance test. */
import type { AcceptanceTest, MetricResult } from '@switchyard/contract/acceptance-tests.ts';
import { rfc3339 } from '../clock.ts';
import type { AcceptanceTestsTable } from './acceptance-schema.ts';
import type { AcceptanceDefinition } from './acceptance-sides.ts';
import type { ListedAcceptanceTest } from './acceptance-store.ts';

/** Without how each rule was decided. */
export function acceptanceInfo(test: ListedAcceptanceTest): AcceptanceTest {
  const { passed, error } = test;
  return {
    id: test.id,
    app_id: test.application_id,
    name: test.name,
    description: test.description,
    status: test.status,
    experiment_id: test.experiment_id,
    ...(JSON.parse(test.definition) as AcceptanceDefinition),
    ...(passed === null ? {} : { results: { passed: passed === 1, ...(error === '' ? {} : { error }) } }),
    created_at: rfc3339(test.created_at),
    updated_at: rfc3339(test.updated_at),
  };
}

export function acceptanceBody(test: AcceptanceTestsTable): AcceptanceTest {
  const { results, ...info } = acceptanceInfo(test);
  if (!results) return info;
  const metric_results = JSON.parse(test.metric_results ?? '[]') as MetricResult[];
  return { ...info, results: { ...results, metric_results } };
}
