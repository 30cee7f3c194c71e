import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import { LogText } from './log-text.ts';
import { LogTimes } from './log-times.ts';
import { readLogParts } from './read-log-parts.ts';

/** A log, and what is known of the times of its lines. */
export interface RunLog {
  text: LogText;
  times: LogTimes;
  /** True while the rest of the log of an ended run arrives. */
  isPartial: boolean;
}

/** A log before its first line. */
export const NO_LOG: RunLog = { text: LogText.empty, times: new LogTimes(), isPartial: false };

/** Returns the key of a log. */
export function logKey({ application, run }: RunAddress) {
  return ['run-log', application, run] as const;
}

/** The log of an ended run, or the lines that the stream of an active one has brought so far. */
export function logQuery(address: RunAddress, status: RunStatusV2) {
  return queryOptions({
    queryKey: logKey(address),
    queryFn: ({ signal }) => readWholeLog(address, signal),
    // The stream of a run that was active at first has brought all lines by its end.
    enabled: ({ state }) => isTerminal(status) && state.data?.isPartial !== false,
    // After a response that broke off, the next visit reads the log again.
    staleTime: ({ state }) => (state.data?.isPartial ? 0 : Number.POSITIVE_INFINITY),
    // Comparing a million lines with the previous ones takes longer than showing them.
    structuralSharing: false,
  });
}

/** Reads the log. Shows the lines so far whenever they have doubled, because each time costs a search in all of them. */
async function readWholeLog(address: RunAddress, signal: AbortSignal): Promise<RunLog> {
  const request = { params: getRunParams(address), signal };
  // Together, so that the column of times does not push lines aside later.
  const [body, times] = await Promise.all([client.open('getRunLogs', request), readTimes(request)]);
  let text = LogText.empty;
  let visibleCount = 0;
  for await (const part of readLogParts(body)) {
    text = text.append(part);
    if (text.lineCount < 2 * visibleCount) continue;
    visibleCount = text.lineCount;
    queryClient.setQueryData<RunLog>(logKey(address), { text, times, isPartial: true });
  }
  return { text, times, isPartial: false };
}

async function readTimes(request: {
  params: ReturnType<typeof getRunParams>;
  signal: AbortSignal;
}): Promise<LogTimes> {
  const { start, steps } = (await client.call('getRunLogTimes', request)).body;
  const times = new LogTimes();
  let at = Date.parse(start ?? '');
  for (const [ms = 0, lines = 0] of steps) {
    at += ms;
    times.add(at, lines);
  }
  return times;
}
