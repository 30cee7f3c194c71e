import { LIVE_LOG_LINES_PER_PAGE } from '@switchyard/contract/limits.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import { cleanLogLine, splitLog } from './clean-log-line.ts';

/** A person sees no difference to a shorter interval. */
const POLL_MIN_MS = 500;

interface RunLog {
  lines: readonly string[];
  /** Token of the next call; absent before the first line. */
  since?: string;
  /** Milliseconds until the next call; false when no line can follow. */
  nextMs: number | false;
}

/** The log of a run: the whole log of an ended run, and otherwise its lines as they come until its end. */
export function logQuery(address: RunAddress, status: RunStatusV2) {
  const queryKey = ['run-log', address.application, address.run];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<RunLog> => {
      const previous = queryClient.getQueryData<RunLog>(queryKey);
      if (previous?.nextMs === false) return previous;
      if (previous === undefined && isTerminal(status)) return readWholeLog(address, signal);
      return readNewLines(address, previous, signal);
    },
    refetchInterval: ({ state }) => state.data?.nextMs ?? false,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing a million lines with the previous ones takes longer than showing them.
    structuralSharing: false,
  });
}

async function readWholeLog(address: RunAddress, signal: AbortSignal): Promise<RunLog> {
  const { body } = await client.call('getRunLogs', { params: getRunParams(address), signal });
  return { lines: splitLog(body.log).map(cleanLogLine), nextMs: false };
}

async function readNewLines(
  address: RunAddress,
  previous: RunLog | undefined,
  signal: AbortSignal,
): Promise<RunLog> {
  const { body } = await client.call('getRunLiveLogs', {
    params: getRunParams(address),
    query: previous?.since === undefined ? {} : { since: previous.since },
    signal,
  });
  const since = body.next_page_token ?? previous?.since;
  const added = body.items.map(({ log }) => cleanLogLine(log));
  const lines = previous?.lines ?? [];
  const isFull = added.length >= LIVE_LOG_LINES_PER_PAGE;
  const hasEnded = isTerminal(body.status_v2) || body.status_v2 === 'none';
  return {
    lines: added.length === 0 ? lines : [...lines, ...added],
    ...(since !== undefined && { since }),
    nextMs: hasEnded ? false : Math.max(body.next_available_in_seconds, isFull ? 1 : POLL_MIN_MS),
  };
}
