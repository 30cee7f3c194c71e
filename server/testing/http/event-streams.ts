/** Opens event streams of the API and reads their events. */
import { type ReceivedEvent, readEvents } from '@switchyard/contract/read-events.ts';

/** An event with its parsed data. */
export interface StreamedEvent extends Omit<ReceivedEvent, 'data'> {
  data: Record<string, unknown>;
}

/** An open stream. Closing it ends the connection. */
export interface OpenedStream {
  status: number;
  /** Returns the next event; undefined after the end of the stream. */
  next(): Promise<StreamedEvent | undefined>;
  /** Returns the events until the end of the stream or of the connection. */
  readAll(): Promise<StreamedEvent[]>;
  close(): Promise<void>;
}

/** Opens a stream, after the event with the id if one is given. */
export async function openStream(
  { url, token }: { url: string; token: string },
  path: string,
  lastEventId?: string,
): Promise<OpenedStream> {
  const abort = new AbortController();
  const response = await fetch(url + path, {
    signal: abort.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  const events = readEvents(response.body ?? new ReadableStream({ start: (stream) => stream.close() }));
  const next = async (): Promise<StreamedEvent | undefined> => {
    const { done, value } = await events.next().catch(() => ({ done: true as const, value: undefined }));
    return done ? undefined : { ...value, data: JSON.parse(value.data) };
  };
  return {
    // `fetch` closes the connection of a response that nobody refers to, so this object does.
    get status() {
      return response.status;
    },
    next,
    async readAll() {
      const all: StreamedEvent[] = [];
      for (let event = await next(); event; event = await next()) all.push(event);
      return all;
    },
    async close() {
      abort.abort();
      await events.return(undefined);
    },
  };
}

/** Returns the log lines of the events. */
export function listLines(events: readonly StreamedEvent[]): string[] {
  return events.flatMap(({ event, data }) =>
    event === 'log' ? (data.items as { log: string }[]).map(({ log }) => log) : [],
  );
}

/** Returns the statuses of the events. */
export function listStatuses(events: readonly StreamedEvent[]): unknown[] {
  return events.filter(({ event }) => event === 'status').map(({ data }) => data.status_v2);
}
