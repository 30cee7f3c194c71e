/**
 * Follows a run to its end by its stream of events. It polls where no stream arrives, as behind a proxy that buffers responses,
 * or with too many open streams.
 */
import { setTimeout } from 'node:timers/promises';
import { ApiError, type Client, type ResponseBody } from '@switchyard/contract/client.ts';
import { type ReceivedEvent, readEvents } from '@switchyard/contract/read-events.ts';
import type { SeriesChange } from '@switchyard/contract/runs/presentation/merge-series.ts';
import { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { RunSeries, RunSolve, SolverPhase } from '@switchyard/contract/runs/run-series.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import Type from 'typebox';
import { isTransient, retry } from '../../errors/retry.ts';

/** The path parameters of a run. */
export interface RunParams {
  application_id: string;
  run_id: string;
}

type LogItems = ResponseBody<'getRunLiveLogs'>['items'];

/** Receives what happens. */
interface RunObserver {
  onStatus?: (status: RunStatusV2) => void;
  onLines?: (lines: LogItems) => void;
  onSeries?: (change: SeriesChange) => void;
}

/** A stream sends the status at once. Without an event within this time, something holds the response. */
const FIRST_EVENT_MS = 10_000;
const POLL_MS_MIN = 500;

interface Follower {
  client: Client;
  params: RunParams;
  observer: RunObserver;
  signal: AbortSignal;
  /** Milliseconds until polling replaces a stream without an event. */
  firstEventMs?: number;
}

/** Returns the terminal status of the run. Throws when the signal aborts, and when the server refuses or stays unreachable. */
export async function followRun(follower: Follower): Promise<RunStatusV2> {
  const position: Position = { lastId: '' };
  for (;;) {
    try {
      const status = await retry(() => readStream(follower, position), { signal: follower.signal });
      // The server ends a stream after some minutes, and one that reads too slowly.
      if (status !== undefined) return status;
    } catch (error) {
      if (follower.signal.aborted || position.lastId !== '' || isFinal(error)) throw error;
      return pollRun(follower);
    }
  }
}

/** Returns true for an error that polling would get as well: the token, a run that does not exist, and a server that is down. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError
    ? [401, 403, 404].includes(error.status) || error.status >= 500
    : isTransient(error);
}

/** The last event that was received; a stream continues after it. */
interface Position {
  lastId: string;
  status?: RunStatusV2;
}

/** Reads one stream. Returns the terminal status; undefined when the stream has ended before the run. */
async function readStream(
  { client, params, observer, signal, firstEventMs = FIRST_EVENT_MS }: Follower,
  position: Position,
): Promise<RunStatusV2 | undefined> {
  const first = new AbortController();
  const before = position.lastId;
  // Where a stream had events nothing holds them, and a server may restart.
  const timer =
    before === ''
      ? globalThis.setTimeout(() => first.abort(new Error('No event arrived.')), firstEventMs)
      : undefined;
  try {
    const { body } = await client.call('streamRunEvents', {
      params,
      headers: position.lastId === '' ? {} : { 'last-event-id': position.lastId },
      signal: AbortSignal.any([signal, first.signal]),
    });
    // Without a body the run has ended, and its last event was received.
    if (!body) return position.status;
    for await (const event of readEvents(body)) {
      clearTimeout(timer);
      position.lastId = event.id;
      const status = handleEvent(event, observer);
      if (status === undefined) continue;
      position.status = status;
      if (isTerminal(status)) return status;
    }
    return undefined;
  } catch (error) {
    // A stream that had events is opened again at once; pauses are for a server that cannot be reached.
    if (signal.aborted || position.lastId === before || !isTransient(error)) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

const { items, status_v2 } = LiveLog.properties;
const parseLog = createJsonParser(Type.Object({ items }));
const parseStatus = createJsonParser(Type.Object({ status_v2 }));
const parseSeries = createJsonParser(
  Type.Object({
    reset: Type.Boolean(),
    series: Type.Array(RunSeries),
    phases: Type.Array(SolverPhase),
    solves: Type.Array(RunSolve),
  }),
);

/** Returns the status of a status event. The contract declares the data of each event. */
function handleEvent({ event, data }: ReceivedEvent, observer: RunObserver): RunStatusV2 | undefined {
  if (event === 'log') {
    observer.onLines?.(parseLog(data, 'The event log').items);
  } else if (event === 'series') {
    observer.onSeries?.(parseSeries(data, 'The event series'));
  } else if (event === 'status') {
    const { status_v2 } = parseStatus(data, 'The event status');
    observer.onStatus?.(status_v2);
    return status_v2;
  }
  return undefined;
}

async function pollRun({ client, params, observer, signal }: Follower): Promise<RunStatusV2> {
  let since: string | undefined;
  let last: RunStatusV2 | undefined;
  for (;;) {
    const query = since === undefined ? {} : { since };
    const { body } = await retry(() => client.call('getRunLiveLogs', { params, query, signal }), { signal });
    if (body.items.length > 0) observer.onLines?.(body.items);
    if (observer.onSeries) {
      const { body } = await client.call('getRunSeries', { params, signal });
      observer.onSeries({ ...body, reset: true });
    }
    if (body.status_v2 !== last) observer.onStatus?.(body.status_v2);
    last = body.status_v2;
    if (isTerminal(body.status_v2)) return body.status_v2;
    since = body.next_page_token ?? since;
    // The field has milliseconds, whatever its name says.
    await setTimeout(Math.max(POLL_MS_MIN, body.next_available_in_seconds), undefined, { signal });
  }
}
