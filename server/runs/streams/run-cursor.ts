/** The position in the stream of a run, as the id of an event: the token of the log, that of the series, and the status. */
import { RUN_STATUSES_V2, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';

/** The state of a client that has received an event and all before it. */
export interface RunCursor {
  /** Token of the last log page; empty before the first line. */
  log: string;
  /** Number of the last row of series; 0 before the first. */
  series: number;
  /** The last status that was sent; null before the first. */
  status: RunStatusV2 | null;
}

/** The cursor of a client without any event. */
const FIRST_CURSOR: RunCursor = { log: '', series: 0, status: null };

/** Formats a cursor as an event id. */
export function formatCursor({ log, series, status }: RunCursor): string {
  return `${log}~${series}~${status ?? ''}`;
}

/** Parses the Last-Event-ID of a request; an absent one is the beginning. Throws a 400 for an id of no event. */
export function parseCursor(id: string | undefined): RunCursor {
  if (id === undefined || id === '') return FIRST_CURSOR;
  const [, log = '', series, name] = /^([\w.]{0,4096})~(\d{1,15})~([a-z]+)$/.exec(id) ?? [];
  const status = RUN_STATUSES_V2.find((one) => one === name);
  if (series === undefined || status === undefined) throw invalidCursor(id);
  return { log, series: Number(series), status };
}

/** Returns the 400 for a Last-Event-ID that no event of the stream has. */
export function invalidCursor(id: string) {
  return badRequest(
    `Last-Event-ID is ${quoteValue(id)}; it must be the id of an event of this stream. Leave it out to begin at the first line.`,
  );
}
