/**
 * All open event streams of this process: how many a member and a key have, their heartbeats, and their end.
 *
 * A stream ends when its reader is too slow, after some minutes, and when the server shuts down. Each time the client
 * connects again and continues after its last event, so an end loses nothing.
 */
import { KEY_STREAMS_MAX, STREAM_MINUTES_MAX } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../clock.ts';
import { tooManyRequests } from '../errors/problem.ts';
import { SharedUse } from '../limits/member-share.ts';
import { EventStream, formatEvents } from './event-stream.ts';

/** Shorter than the idle timeouts of common proxies, which begin at 30 s. */
const HEARTBEAT_INTERVAL_MS = 15_000;
const CHECK_INTERVAL_MS = 5_000;
/** The time in which a slow reader has to read what is buffered for it; and then to read the end of the stream. */
const READ_TIMEOUT_MS = 10_000;
/** The first line: a client waits this long before it connects again. */
const PREAMBLE = Buffer.from('retry: 1000\n\n');
const HEARTBEAT = Buffer.from(': heartbeat\n\n');

interface OpenStream {
  openedAt: number;
  /** The time of the last heartbeat. Each stream has its own, so that not all heartbeats are sent in one turn. */
  heartbeatAt: number;
  /** The time of the first check since the last read that found the stream full or ended. */
  fullSince: number | null;
  readCount: number;
}

/** The open streams of this process. */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #streams = new Map<EventStream, OpenStream>();
  readonly #use = new SharedUse();
  #cancelCheck: (() => void) | null = null;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Opens a stream for a key of a member. Throws a 429 when the key or the member has too many. */
  open(holder: string): EventStream {
    const release = this.#use.open(holder, KEY_STREAMS_MAX);
    if (!release)
      throw tooManyRequests(
        `The member has ${this.#use.countMember(holder)} open event streams; a key can have ${KEY_STREAMS_MAX}. Close one of them.`,
        { 'retry-after': '5' },
      );
    const stream = new EventStream();
    stream.send(PREAMBLE);
    const now = this.#clock.elapsed();
    this.#streams.set(stream, { openedAt: now, heartbeatAt: now, fullSince: null, readCount: 0 });
    stream.once('close', () => {
      this.#streams.delete(stream);
      release();
    });
    if (this.#isClosed) stream.end();
    else this.#cancelCheck ??= this.#clock.after(CHECK_INTERVAL_MS, () => this.#check());
    return stream;
  }

  /** Ends all streams, now and from now on. The clients connect again, to another server or to the next start of this one. */
  close(): void {
    this.#isClosed = true;
    this.#cancelCheck?.();
    for (const stream of this.#streams.keys()) stream.end();
  }

  #check(): void {
    const now = this.#clock.elapsed();
    for (const [stream, open] of this.#streams) {
      if (stream.readCount !== open.readCount) open.fullSince = null;
      open.readCount = stream.readCount;
      if (stream.isFull || stream.isOver) this.#endSlow(stream, open, now);
      else {
        if (now - open.openedAt >= STREAM_MINUTES_MAX * 60_000) endWithResync(stream, 'the stream is old');
        else if (now - open.heartbeatAt >= HEARTBEAT_INTERVAL_MS) {
          open.heartbeatAt = now;
          stream.send(HEARTBEAT);
        }
      }
    }
    this.#cancelCheck =
      this.#streams.size === 0 ? null : this.#clock.after(CHECK_INTERVAL_MS, () => this.#check());
  }

  /** Ends the stream of a slow reader, and closes the connection of one that does not read the end either. */
  #endSlow(stream: EventStream, open: OpenStream, now: number): void {
    open.fullSince ??= now;
    if (now - open.fullSince < READ_TIMEOUT_MS) return;
    if (stream.isOver) stream.destroy();
    else endWithResync(stream, 'the client reads too slowly');
    open.fullSince = now;
  }
}

/** Ends a stream with the event that asks its client to connect again. */
export function endWithResync(stream: EventStream, reason: string): void {
  stream.send(formatEvents([{ event: 'resync', data: { reason } }]));
  stream.end();
}
