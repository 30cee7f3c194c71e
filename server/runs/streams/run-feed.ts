/**
 * The streams of one run. Streams at the same position share the reading and the text of new events. A stream that is new or
 * was full reads for itself until it is at the position of the others. Many streams begin at one position when a server has
 * started again: those whose reading waits or runs at the same time share it too.
 */
import { setImmediate } from 'node:timers/promises';
import type PQueue from 'p-queue';
import type { Reader } from '../../platform/database/database.ts';
import { type EventStream, formatEvents, sendInTurns } from '../../platform/http/streams/event-stream.ts';
import { endWithResync } from '../../platform/http/streams/open-streams.ts';
import { type RunUpdate, readUpdate, type StreamedRun } from './read-update.ts';
import { formatCursor, type RunCursor } from './run-cursor.ts';

interface FeedParts {
  db: Reader;
  /** Bounds how many streams of the process read for themselves at the same time. */
  reads: PQueue;
  onError(error: unknown): void;
}

/** An update with the text of its events. */
interface Reading {
  update: RunUpdate;
  bytes: Buffer;
}

/** The streams of one run in this process. */
export class RunFeed {
  readonly #parts: FeedParts;
  readonly #run: StreamedRun;
  /** The streams at the position of the feed. */
  readonly #live = new Set<EventStream>();
  readonly #streams = new Set<EventStream>();
  #cursor: RunCursor;
  /** The mark of the rows at the position of the feed; undefined when more rows are stored, or the mark is unknown. */
  #mark: string | undefined;
  /** The readings of streams that are not live, by their position. */
  readonly #readings = new Map<string, Promise<Reading | undefined | null>>();
  /** Streams that wait for the next round. */
  #waiting: (() => void)[] = [];

  constructor(parts: FeedParts, run: StreamedRun, cursor: RunCursor) {
    this.#parts = parts;
    this.#run = run;
    this.#cursor = cursor;
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  /** Adds a stream at its position and sends what follows. */
  add(stream: EventStream, cursor: RunCursor): void {
    this.#streams.add(stream);
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#live.delete(stream);
    });
    void this.#catchUp(stream, cursor);
  }

  /**
   * Reads the new events of the run and sends them to all streams at its position. Returns true if more are stored. An
   * unchanged mark says that there are none.
   */
  async advance(mark: string | undefined): Promise<boolean> {
    const isChanged = mark === undefined || mark !== this.#mark;
    const hasMore = this.#live.size > 0 && isChanged && (await this.#advanceLive(mark));
    for (const resolve of this.#waiting.splice(0)) resolve();
    return hasMore;
  }

  async #advanceLive(mark: string | undefined): Promise<boolean> {
    // On SQLite reading blocks the thread: other requests run before it.
    await setImmediate();
    const before = this.#cursor;
    const update = await this.#read(before);
    if (update === undefined) this.#endDeleted();
    // A stream that was alone has ended, and one at another position has replaced it.
    if (!update || this.#cursor !== before) return false;
    this.#cursor = update.cursor;
    this.#mark = update.isComplete ? mark : undefined;
    await this.#sendToAll(update, before);
    return !update.isComplete;
  }

  async #sendToAll(update: RunUpdate, before: RunCursor): Promise<void> {
    if (update.events.length === 0) return;
    const bytes = formatEvents(update.events);
    await sendInTurns(this.#live, (stream) => {
      if (stream.isFull) {
        this.#live.delete(stream);
        void this.#catchUp(stream, before);
      } else sendUpdate(stream, bytes, update);
    });
  }

  #endDeleted(): void {
    for (const stream of this.#live) endWithResync(stream, 'the run was deleted');
  }

  /** Sends events from the stream's own position until it is at the position of the feed. */
  async #catchUp(stream: EventStream, from: RunCursor): Promise<void> {
    let cursor = from;
    for (;;) {
      await stream.whenReady();
      if (stream.isOver) return;
      const reading = await this.#readTogether(cursor);
      if (stream.isOver) return;
      if (!reading) return endWithResync(stream, 'the run was deleted or could not be read');
      const { update, bytes } = reading;
      cursor = update.cursor;
      sendUpdate(stream, bytes, update);
      if (!update.isComplete || update.isEnd) continue;
      if (this.#live.size === 0) {
        this.#cursor = cursor;
        this.#mark = undefined;
      }
      if (formatCursor(cursor) === formatCursor(this.#cursor)) {
        this.#live.add(stream);
        return;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Reads the events after the position, once for all streams that wait for it. */
  #readTogether(cursor: RunCursor): Promise<Reading | undefined | null> {
    const key = formatCursor(cursor);
    const known = this.#readings.get(key);
    if (known) return known;
    const reading = this.#parts.reads.add(async () => {
      const update = await this.#read(cursor);
      this.#readings.delete(key);
      return update && { update, bytes: formatEvents(update.events) };
    });
    this.#readings.set(key, reading);
    return reading;
  }

  /** Returns null when the rows cannot be read now. */
  async #read(cursor: RunCursor): Promise<RunUpdate | undefined | null> {
    try {
      return await readUpdate(this.#parts.db, this.#run, cursor);
    } catch (error) {
      this.#parts.onError(error);
      return null;
    }
  }
}

function sendUpdate(stream: EventStream, bytes: Buffer, { isEnd }: RunUpdate): void {
  stream.send(bytes);
  if (isEnd) stream.end();
}
