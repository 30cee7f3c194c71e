/** Heartbeats, slow readers and the age of streams, on a clock that the test drives. */
import { STREAM_MINUTES_MAX } from '@switchyard/contract/limits.ts';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../clock.ts';
import type { EventStream } from './event-stream.ts';
import { OpenStreams } from './open-streams.ts';

const LARGE = Buffer.alloc(64 * 1024, 'x');

/** Creates the streams, and the function that lets them check at each interval within the time. */
function createStreams() {
  let now = 0;
  let next: { at: number; callback: () => void } | null = null;
  const clock: Clock = {
    ...systemClock,
    elapsed: () => now,
    after(delayMs, callback) {
      next = { at: now + delayMs, callback };
      return () => {
        next = null;
      };
    },
  };
  const advance = (ms: number): void => {
    const end = now + ms;
    while (next && next.at <= end) {
      now = next.at;
      const { callback } = next;
      next = null;
      callback();
    }
    now = end;
  };
  return { streams: new OpenStreams(clock), advance };
}

/** Reads everything that is buffered. */
function readText(stream: EventStream): string {
  let text = '';
  for (let bytes = stream.read(); bytes !== null; bytes = stream.read()) text += String(bytes);
  return text;
}

test('an idle stream gets a heartbeat four times a minute', () => {
  const { streams, advance } = createStreams();
  const stream = streams.open('ada');
  expect(readText(stream)).toBe('retry: 1000\n\n');
  advance(60_000);
  expect(readText(stream)).toBe(': heartbeat\n\n'.repeat(4));
});

test('a slow reader gets a resync after what is buffered, and is closed when it does not read that either', () => {
  const { streams, advance } = createStreams();
  const stream = streams.open('ada');
  stream.send(LARGE);
  expect(stream.isFull).toBe(true);
  advance(15_000);
  expect(stream.isOver).toBe(true);
  stream.send(LARGE);
  expect(stream.readableLength).toBeLessThan(LARGE.length + 200);
  advance(15_000);
  expect(stream.destroyed).toBe(true);
});

test('a reader that reads in time is not slow', () => {
  const { streams, advance } = createStreams();
  const stream = streams.open('ada');
  for (let count = 0; count < 10; count += 1) {
    stream.send(LARGE);
    advance(5_000);
    readText(stream);
    expect(stream.isOver).toBe(false);
  }
});

test('a stream ends after some minutes, and closing ends all and those that are opened later', () => {
  const { streams, advance } = createStreams();
  const old = streams.open('ada');
  advance(STREAM_MINUTES_MAX * 60_000 - 5_000);
  const young = streams.open('ada');
  advance(10_000);
  expect(readText(old)).toContain('event: resync\ndata: {"reason":"the stream is old"}\n\n');
  expect([old.isOver, young.isOver]).toEqual([true, false]);
  streams.close();
  expect([young.isOver, streams.open('ada').isOver]).toEqual([true, true]);
});
