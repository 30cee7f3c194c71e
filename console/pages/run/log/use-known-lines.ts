import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../client/queries.ts';
import { cleanLogLine, splitLog } from '../../../ui/log/clean-log-line.ts';
import { getRunParams } from '../queries.ts';
import { firstLinesQuery } from './first-lines-query.ts';

export interface LogLine {
  text: string;
  /** Milliseconds since the epoch; undefined where the end of a log comes without times. */
  at: number | undefined;
}

export interface KnownLines {
  lines: readonly LogLine[];
  /** true: the lines are a part of the log. */
  isLong: boolean;
  /** true: the last lines are those of the log. */
  isEnd: boolean;
}

/**
 * Returns lines of the log of an ended run, which may have 50 MB: all of a short one. Of a long one these are the last after a
 * failure or a cancellation, and else the first.
 */
export function useKnownLines(run: RunInformation): KnownLines {
  const address = { application: run.application_id, run: run.id };
  const { data } = useQuery({ ...firstLinesQuery(address), enabled: isTerminal(run.status_v2) });
  const isLong = data?.next_page_token !== undefined;
  const hasEnding = isLong && (run.status_v2 === 'failed' || run.status_v2 === 'canceled');
  const { data: failed } = useQuery({
    ...operationQuery('getRunOutput', { params: getRunParams(address) }),
    enabled: hasEnding,
  });
  const lines = hasEnding
    ? splitLog(failed?.error_log?.stderr ?? '').map((text) => ({ text: cleanLogLine(text), at: undefined }))
    : (data?.items ?? []).map(({ log, timestamp }) => ({
        text: cleanLogLine(log),
        at: timestamp === undefined ? undefined : Date.parse(timestamp),
      }));
  return { lines, isLong, isEnd: hasEnding || !isLong };
}
