/** Reads what has changed in a run after a position of its stream, from the rows of the run. */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { ServerEvent } from '../../platform/http/streams/event-stream.ts';
import { readLogPage } from '../logs/run-logs.ts';
import { findSeriesAfter } from '../series/series-rows.ts';
import { formatCursor, type RunCursor } from './run-cursor.ts';

/** A megabyte of lines: what a stream holds in memory for a reader that does not read. */
const CHUNKS_MAX = 4;

/** A run as the path of a request names it. */
export interface StreamedRun {
  account: AccountId;
  application: ApplicationId;
  id: RunId;
}

/** The events after a position. */
export interface RunUpdate {
  events: ServerEvent[];
  /** The position after the events. */
  cursor: RunCursor;
  /** True if the rows have nothing more now. */
  isComplete: boolean;
  /** True after the terminal status: the stream ends. */
  isEnd: boolean;
}

/**
 * Returns the next events of a run; undefined when the account has no such run, null for an invalid cursor. Status and lines
 * are from one statement, so a terminal status comes after the last line. The points are read later, so it comes after them
 * too.
 */
export async function readUpdate(
  db: Reader,
  run: StreamedRun,
  from: RunCursor,
): Promise<RunUpdate | undefined | null> {
  const page = await readLogPage(db, { ...run, since: from.log, chunksMax: CHUNKS_MAX });
  if (!page) return page;
  const hasEnded = isTerminal(page.status);
  const events: ServerEvent[] = [];
  let cursor = from;
  const add = (event: string, data: unknown, change: Partial<RunCursor>): void => {
    cursor = { ...cursor, ...change };
    events.push({ id: formatCursor(cursor), event, data });
  };
  const addStatus = (): void => {
    if (page.status !== from.status) add('status', { status_v2: page.status }, { status: page.status });
  };
  if (!hasEnded) addStatus();
  if (page.items.length > 0) add('log', { items: page.items }, { log: page.token ?? '' });
  const points = await findSeriesAfter(db, run.id, from.series);
  if (points) {
    const { seq, ...data } = points;
    add('series', data, { series: seq });
  }
  const isEnd = hasEnded && page.isComplete;
  if (isEnd) addStatus();
  return { events, cursor, isComplete: page.isComplete, isEnd };
}
