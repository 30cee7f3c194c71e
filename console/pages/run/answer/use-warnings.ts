import { LOG_MATCHES_MAX } from '@switchyard/contract/limits.ts';
import { LEVEL_PATTERNS } from '@switchyard/contract/runs/logs/log-levels.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { operationQuery } from '../../../client/queries.ts';
import { logQuery } from '../log/log-query.ts';
import { getRunParams, type RunAddress } from '../queries.ts';

/** Counting in a longer log with each of its lines would take too long. */
const COUNTED_LINES_MAX = 100_000;

/** The first lines of the log of an ended run that warn, or worse. */
export function warningsQuery(address: RunAddress) {
  return queryOptions({
    ...operationQuery('searchRunLog', {
      params: getRunParams(address),
      query: { level: 'warning', limit: LOG_MATCHES_MAX },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Returns the number of lines that warn, or worse, and the time of the first in milliseconds since the epoch. */
export function useWarnings(run: RunInformation): {
  count: number;
  hasMore: boolean;
  first: number | undefined;
} {
  const address = { application: run.application_id, run: run.id };
  const hasEnded = isTerminal(run.status_v2);
  const { data: found } = useQuery({ ...warningsQuery(address), enabled: hasEnded });
  const { data: log } = useQuery({ ...logQuery(address, run.status_v2), enabled: false });
  const live = useMemo(() => {
    if (hasEnded || !log || log.text.lineCount > COUNTED_LINES_MAX) return [];
    return log.text.findLines(LEVEL_PATTERNS.warning);
  }, [hasEnded, log]);
  if (!hasEnded)
    return {
      count: live.length,
      hasMore: false,
      first: live[0] === undefined ? undefined : log?.times.find(live[0]),
    };
  const time = found?.items[0]?.timestamp;
  return {
    count: found?.items.length ?? 0,
    hasMore: found?.next_page_token !== undefined,
    first: time ? Date.parse(time) : undefined,
  };
}
