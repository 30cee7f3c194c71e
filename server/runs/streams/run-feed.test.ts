/** Streams of one run share the reading of events that they wait for at the same time. */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import PQueue from 'p-queue';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EventStream } from '../../platform/http/streams/event-stream.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { parseCursor } from './run-cursor.ts';
import { RunFeed } from './run-feed.ts';

const FIRST_CURSOR = parseCursor(undefined);

let opened: TestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

test('streams that open at one position share its reading, and each gets what it returns', async () => {
  const reads = new PQueue({ concurrency: 2, autoStart: false });
  const errors: unknown[] = [];
  const run = { account: 'account' as AccountId, application: 'app' as ApplicationId, id: 'gone' as RunId };
  const parts = { db: opened.database.read, reads, onError: (error: unknown) => errors.push(error) };
  const feed = new RunFeed(parts, run, FIRST_CURSOR);
  const streams = Array.from({ length: 20 }, () => new EventStream());
  for (const [n, stream] of streams.entries())
    feed.add(stream, n % 2 === 0 ? FIRST_CURSOR : { ...FIRST_CURSOR, log: '7' });
  await new Promise(setImmediate);
  expect(reads.size).toBe(2);
  reads.start();
  const texts = await Promise.all(streams.map(async (stream) => Buffer.concat(await stream.toArray())));
  expect(new Set(texts.map(String))).toEqual(
    new Set(['event: resync\ndata: {"reason":"the run was deleted or could not be read"}\n\n']),
  );
  expect([reads.size, errors, feed.isEmpty]).toEqual([0, [], true]);
});
