import { queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../../client/queries.ts';

/** The storage and the policy of each application, newest first. */
export const storageQuery = operationQuery('getStorage');

/** The policy of an application. */
export const policyQuery = (application: string) =>
  operationQuery('getRetention', { params: { application_id: application } });

/** The effect that a policy would have now. */
export function previewQuery(application: string, rule: { keepDays: number; keepExperimentRuns: boolean }) {
  return queryOptions({
    ...operationQuery('previewRetention', {
      params: { application_id: application },
      query: { keep_days: rule.keepDays, keep_experiment_runs: rule.keepExperimentRuns },
    }),
    staleTime: 0,
    retry: false,
  });
}
