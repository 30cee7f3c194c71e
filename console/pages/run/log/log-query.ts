import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import { cleanLogLine, splitLog } from './clean-log-line.ts';

/** Returns the key of the lines of a log. */
export function logKey({ application, run }: RunAddress) {
  return ['run-log', application, run] as const;
}

/** The lines of a log: those of an ended run, or those that the stream of an active one has brought so far. */
export function logQuery(address: RunAddress, status: RunStatusV2) {
  return queryOptions({
    queryKey: logKey(address),
    queryFn: ({ signal }) => readWholeLog(address, signal),
    // The stream of a run that was active at first has brought all lines by its end.
    enabled: ({ state }) => isTerminal(status) && state.data === undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing a million lines with the previous ones takes longer than showing them.
    structuralSharing: false,
  });
}

async function readWholeLog(address: RunAddress, signal: AbortSignal): Promise<readonly string[]> {
  const { body } = await client.call('getRunLogs', { params: getRunParams(address), signal });
  return splitLog(body.log).map(cleanLogLine);
}
