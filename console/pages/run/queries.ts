import { isTerminal } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../../client/queries.ts';

const REFRESH_MS = 1_000;
/** The stream of the run announces changes; this covers a lost connection, and the reason for waiting. */
const STREAMED_REFRESH_MS = 3_000;

/** The ids in the address of a run. */
export interface RunAddress {
  application: string;
  run: string;
}

/** Returns the path parameters of the operations on a run. */
export function getRunParams({ application, run }: RunAddress) {
  return { application_id: application, run_id: run };
}

/** The run without its content, read again from time to time until it has ended. */
export function runQuery(address: RunAddress) {
  return queryOptions({
    ...operationQuery('getRunMetadata', { params: getRunParams(address) }),
    refetchInterval: ({ state }) =>
      state.data && !isTerminal(state.data.status_v2) && state.data.status_v2 !== 'none'
        ? STREAMED_REFRESH_MS
        : false,
  });
}

/** The tags of a run. */
export function tagsQuery(address: RunAddress) {
  return operationQuery('getRunTags', { params: getRunParams(address) });
}

/** The series of a run so far. The stream of an active run adds points. */
export function seriesQuery(address: RunAddress) {
  return queryOptions({
    ...operationQuery('getRunSeries', { params: getRunParams(address) }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The replays of a run, read again every second until the newest one is compared. */
export function replaysQuery(address: RunAddress) {
  return queryOptions({
    ...operationQuery('listRunReplays', { params: getRunParams(address) }),
    refetchInterval: ({ state }) => {
      const newest = state.data?.items[0];
      return newest && !newest.comparison ? REFRESH_MS : false;
    },
  });
}

/** An output of this size arrives with the page, so that the view of its solution does not move what is below. */
const PRELOADED_OUTPUT_BYTES = 500_000;

/** Returns true for an ended run whose output is small enough for the summary. */
export function hasSmallOutput(run: {
  status_v2: Parameters<typeof isTerminal>[0];
  output_size: number;
}): boolean {
  return isTerminal(run.status_v2) && run.output_size > 0 && run.output_size <= PRELOADED_OUTPUT_BYTES;
}
