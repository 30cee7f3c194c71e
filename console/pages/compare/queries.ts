import { queryOptions, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs, isActiveStatus } from '../../client/run-refetch.ts';
import { contentQuery } from '../../ui/content/content-query.ts';
import { diffLines } from '../../ui/diff/diff-lines.ts';
import { findViews } from '../../ui/solution/find-views.ts';
import { getRunContentSource } from '../../ui/solution/run-content.tsx';
import { readLogParts } from '../run/log/read-log-parts.ts';
import { hasSmallOutput } from '../run/queries.ts';
import type { ComparedRun } from './compare-runs.ts';
import { pairViews, type ViewPair } from './plan/compare-plans.ts';

const SUGGESTED_RUNS = 20;
/** A comparison of longer logs takes longer than a person waits, and nobody reads it. */
const LOG_CHARS_MAX = 2_000_000;

/** The run with its options and indicators, read again until it has ended. */
export function runQuery(application: string, run: string) {
  return queryOptions({
    ...operationQuery('getRunMetadata', { params: { application_id: application, run_id: run } }),
    refetchInterval: ({ state }) =>
      state.data && isActiveStatus(state.data.status_v2) ? unlessLive(computeRefetchMs([state.data])) : false,
    meta: { topics: [{ events: 'runs', application }] },
  });
}

/** The lines of the logs of two ended runs that differ; null for logs that are too long or differ too much. */
export function logDiffQuery(application: string, baseline: string, other: string) {
  return queryOptions({
    queryKey: ['log-diff', application, baseline, other],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all(
        [baseline, other].map((run) => readLog(application, run, signal)),
      );
      return before === undefined || after === undefined ? null : diffLines(before, after);
    },
  });
}

/** Reads the log of a run; undefined for one that is too long. */
async function readLog(application: string, run: string, signal: AbortSignal): Promise<string | undefined> {
  const params = { application_id: application, run_id: run };
  let text = '';
  for await (const part of readLogParts(await client.open('getRunLogs', { params, signal }))) {
    text += part;
    if (text.length > LOG_CHARS_MAX) return undefined;
  }
  return text;
}

/**
 * Returns the plans of two runs that can be compared; undefined when there are none, and while the outputs load. Large
 * outputs load when their part of the page is open.
 */
export function usePlans(
  application: string,
  runs: readonly ComparedRun[],
  isOpen: boolean,
): ViewPair | undefined {
  const isPair = runs.length === 2;
  const results = useQueries({
    queries: runs.map(({ id, metadata }) => ({
      ...contentQuery(getRunContentSource(application, id, 'output')),
      enabled: isPair && (hasSmallOutput(metadata) || (isOpen && metadata.output_size > 0)),
    })),
  });
  const [a, b] = results.map(({ data }) => data);
  return useMemo(
    () =>
      isPair && a?.kind === 'json' && b?.kind === 'json'
        ? pairViews(findViews(a.value), findViews(b.value))
        : undefined,
    [isPair, a, b],
  );
}

/** The newest runs of the application, as suggestions. */
export function newestRunsQuery(application: string) {
  return operationQuery('listRuns', {
    params: { application_id: application },
    query: { limit: SUGGESTED_RUNS },
  });
}
