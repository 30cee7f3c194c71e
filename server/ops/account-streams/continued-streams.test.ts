/** Streams that continue on another server, which has not read the latest events yet. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventStream } from '../../platform/http/streams/event-stream.ts';
import { OpenStreams } from '../../platform/http/streams/open-streams.ts';
import { createLog } from '../../platform/log.ts';
import { insertApplication, insertNumberedEvents } from '../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { AccountStreams } from './account-streams.ts';

let opened: TestDatabase;
let application: string;
beforeAll(async () => {
  opened = await openTestDatabase();
  application = await opened.database.transact((tx) => insertApplication(tx));
});
afterAll(() => opened.close());

const insertEvents = (...seqs: number[]) =>
  opened.database.transact((tx) => insertNumberedEvents(tx, application, seqs));

/** Returns the ids of the runs in the events that the stream has sent since the last call. */
function readRuns(stream: EventStream): string[] {
  const text = String(stream.read() ?? '');
  expect(text).not.toContain('"is_truncated":true');
  return [...text.matchAll(/"run_id":"([^"]+)"/g)].map(([, id]) => id ?? '');
}

test('a client that has later events than this server gets none of them again, and loses none', async () => {
  const { account_id: account } = await opened.database.read
    .selectFrom('applications')
    .select('account_id')
    .where('uid', '=', application)
    .executeTakeFirstOrThrow();
  const clock = createManualClock(0);
  const { database } = opened;
  const streams = new AccountStreams({
    ...{ database, clock, log: createLog('silent') },
    openStreams: new OpenStreams(clock),
  });
  const advance = async (stream: EventStream, count: number): Promise<string[]> => {
    const runs: string[] = [];
    await waitUntil(`${count} changes`, () => {
      clock.advance(3000);
      runs.push(...readRuns(stream));
      return runs.length >= count;
    });
    return runs;
  };
  await insertEvents(1, 3);
  const first = await streams.open('member', account, null);
  await insertEvents(4, 6);
  expect(await advance(first, 2)).toEqual(['run-4', 'run-6']);
  // The other server has read 5, which this one found missing, and 7, which is new.
  await insertEvents(5, 7, 8);
  const opening = streams.open('member', account, { seq: 7, missing: [] });
  expect(await advance(first, 3)).toEqual(['run-5', 'run-7', 'run-8']);
  const second = await opening;
  expect(await advance(second, 1)).toEqual(['run-8']);
  await insertEvents(9);
  expect(await advance(second, 1)).toEqual(['run-9']);
  for (const stream of [first, second]) stream.destroy();
});
