/**
 * All open event streams of this process: how many a member has, their heartbeats, and their end.
 *
 * A stream ends when its reader is too slow, after some minutes, and when the server shuts down. Each time the client
 * connects again and continues after its last event, so an end loses nothing.
 */
import { MEMBER_STREAMS_MAX, STREAM_MINUTES_MAX } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../clock.ts';
import { tooManyRequests } from '../errors/problem.ts';
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
  member: string;
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
  readonly #countsByMember = new Map<string, number>();
  #cancelCheck: (() => void) | null = null;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Opens a stream for the member. Throws a 429 when it has too many. */
  open(member: string): EventStream {
    const count = this.#countsByMember.get(member) ?? 0;
    if (count >= MEMBER_STREAMS_MAX)
      throw tooManyRequests(
        `The member has ${count} open event streams, the maximum for one member. Close one of them.`,
        { 'retry-after': '5' },
      );
    const stream = new EventStream();
    stream.send(PREAMBLE);
    this.#countsByMember.set(member, count + 1);
    const now = this.#clock.elapsed();
    this.#streams.set(stream, { member, openedAt: now, heartbeatAt: now, fullSince: null, readCount: 0 });
    stream.once('close', () => this.#remove(stream, member));
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

  #remove(stream: EventStream, member: string): void {
    this.#streams.delete(stream);
    const remaining = (this.#countsByMember.get(member) ?? 1) - 1;
    if (remaining > 0) this.#countsByMember.set(member, remaining);
    else this.#countsByMember.delete(member);
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
