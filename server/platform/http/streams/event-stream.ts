/**
 * One open stream of server-sent events, and the text of an event (WHATWG HTML, "Server-sent events"). The stream buffers a
 * few kilobytes. A writer checks `isFull` and continues after `whenReady`, so that a slow reader costs no memory.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';

/** Beyond this the stream is full. One event may exceed it. */
const BUFFER_BYTES = 16 * 1024;
/** Memory of a stream while its client does not read: its buffer, and one event. */
export const STREAM_MEMORY_BYTES = 32 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** Sends in one turn of the event loop: about a millisecond. Requests run between the turns. */
const SENDS_PER_TURN = 50;

/** An event before it is written. Without an id it has no position, and a client does not continue from it. */
export interface ServerEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** Formats events as the bytes that a stream sends. JSON has no line break, so each event has one data line. */
export function formatEvents(events: readonly ServerEvent[]): Buffer {
  if (events.length === 0) return NO_BYTES;
  return Buffer.from(
    events
      .map(
        ({ id, event, data }) =>
          `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${formatMarkedJson(data)}\n\n`,
      )
      .join(''),
  );
}

/** The body of a response that stays open. */
export class EventStream extends Readable {
  #isFull = false;
  #isEnded = false;
  #readCount = 0;
  #waiting: (() => void)[] = [];

  constructor() {
    super({ highWaterMark: BUFFER_BYTES });
    this.once('close', () => this.#resume());
  }

  /** True while the reader is behind; events wait in the database meanwhile. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Grows each time the reader has read what was buffered. */
  get readCount(): number {
    return this.#readCount;
  }

  /** True when nothing more can be sent: the stream has ended, or its reader has gone. */
  get isOver(): boolean {
    return this.#isEnded || this.destroyed;
  }

  /** Sends bytes; several streams may share them. */
  send(bytes: Buffer): void {
    if (!this.isOver && bytes.length > 0) this.#isFull = !this.push(bytes);
  }

  /** Ends the stream after the bytes that it has. */
  end(): void {
    if (this.isOver) return;
    this.#isEnded = true;
    this.push(null);
    this.#resume();
  }

  /** Resolves when the stream can be written to again, or is over. */
  async whenReady(): Promise<void> {
    if (this.#isFull && !this.isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  override _read(): void {
    this.#isFull = false;
    this.#readCount += 1;
    this.#resume();
  }

  #resume(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Calls `send` for each of the streams, a few in each turn of the event loop. Streams that open meanwhile are not called. */
export async function sendInTurns(
  streams: Iterable<EventStream>,
  send: (stream: EventStream) => void,
): Promise<void> {
  for (const [n, stream] of [...streams].entries()) {
    if (n > 0 && n % SENDS_PER_TURN === 0) await setImmediate();
    send(stream);
  }
}
