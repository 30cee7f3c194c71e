/** Events are the same, however the connection splits their bytes. */
import { expect, test } from 'vitest';
import { type ReceivedEvent, readEvents } from './read-events.ts';

const TEXT =
  'retry: 1000\n\nid: 1\nevent: log\ndata: {"ä":"𝄞"}\n\n: heartbeat\n\nevent: resync\ndata:x: y\n\nid: 2\nevent: cut';
const EVENTS = [
  { id: '1', event: 'log', data: '{"ä":"𝄞"}' },
  { id: '1', event: 'resync', data: 'x: y' },
];

test.each([1, 2, 3, 7, 1000])('reads events from parts of %d bytes', async (size) => {
  const bytes = new TextEncoder().encode(TEXT);
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (let from = 0; from < bytes.length; from += size) stream.enqueue(bytes.slice(from, from + size));
      stream.close();
    },
  });
  const events: ReceivedEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  expect(events).toEqual(EVENTS);
});

test('closes the connection when the caller stops reading, and throws the error of a lost one', async () => {
  let isCanceled = false;
  const open = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode(TEXT)),
    cancel() {
      isCanceled = true;
    },
  });
  for await (const { event } of readEvents(open)) {
    expect(event).toBe('log');
    break;
  }
  expect(isCanceled).toBe(true);
  const lost = new ReadableStream<Uint8Array>({ start: (stream) => stream.error(new Error('lost')) });
  await expect(readEvents(lost).next()).rejects.toThrow('lost');
});
