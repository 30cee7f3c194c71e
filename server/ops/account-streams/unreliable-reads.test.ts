/** Streams of an account lose and repeat no change when a read fails, and when streams open at the same time. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transitionBatch } from '../../experiments/store/transitions.ts';
import type { EventStream } from '../../platform/http/streams/event-stream.ts';
import { OpenStreams } from '../../platform/http/streams/open-streams.ts';
import { createLog } from '../../platform/log.ts';
import {
  insertApplication,
  insertBatchExperiment,
  insertNumberedEvents,
} from '../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { AccountStreams } from './account-streams.ts';

let opened: TestDatabase;
let application: string;
let account: AccountId;
beforeAll(async () => {
  opened = await openTestDatabase();
  application = await opened.database.transact((tx) => insertApplication(tx));
  const found = opened.database.read.selectFrom('applications').select('account_id');
  account = (await found.executeTakeFirstOrThrow()).account_id;
});
afterAll(() => opened.close());

let lastSeq = 0;
/** Inserts an event of a run, and returns the id of the run. */
async function insertEvent(): Promise<string> {
  lastSeq += 1;
  await opened.database.transact((tx) => insertNumberedEvents(tx, application, [lastSeq]));
  return `run-${lastSeq}`;
}

/** Creates the streams of a server whose reads pass through the plugin. */
function createStreams(plugin: KyselyPlugin) {
  const clock = createManualClock(0);
  const database = {
    read: opened.database.read.withPlugin(plugin),
    listen: opened.database.listen.bind(opened.database),
  };
  const parts = { database, clock, log: createLog('silent'), openStreams: new OpenStreams(clock) };
  const streams = new AccountStreams(parts);
  /** Advances the clock until the condition holds, so that rounds pass. */
  const pass = (condition: string, holds: () => boolean): Promise<true> =>
    waitUntil(condition, () => {
      clock.advance(3000);
      return holds();
    });
  return { streams, pass };
}

/** Returns a function that returns all changes that the stream has sent so far: ids of runs, and statuses of experiments. */
function collectChanges(stream: EventStream): () => string[] {
  const changes: string[] = [];
  return () => {
    const text = String(stream.read() ?? '');
    expect(text).not.toContain('"is_truncated":true');
    for (const [, run, status] of text.matchAll(/"run_id":"([^"]+)"|"type":"batch","status":"([^"]+)"/g))
      changes.push(run ?? status ?? '');
    return changes;
  };
}

const passThrough: KyselyPlugin['transformResult'] = async ({ result }) => result;

test.each([
  ['of the events', ['"run_events"']],
  ['of the started experiments', ['"experiments"']],
  ['of the ended experiments', ['"experiments"', '"operator":"in"']],
])('a read %s that fails loses no change', async (_, parts) => {
  let isFailing = false;
  let failures = 0;
  const { streams, pass } = createStreams({
    transformQuery({ node }) {
      const text = JSON.stringify(node);
      if (!isFailing || !parts.every((part) => text.includes(part))) return node;
      failures += 1;
      throw new Error('The connection broke.');
    },
    transformResult: passThrough,
  });
  const uid = await opened.database.transact((tx) => insertBatchExperiment(tx));
  const stream = await streams.open('member', account, null);
  const listChanges = collectChanges(stream);
  isFailing = true;
  const run = await insertEvent();
  await opened.database.transact((tx) =>
    transitionBatch(tx, uid, { from: 'started', to: 'completed' }, { completed_at: 1 }),
  );
  await pass('a round fails', () => failures > 0);
  isFailing = false;
  await pass('both changes are sent', () => listChanges().length >= 2);
  expect(listChanges().toSorted()).toEqual(['completed', run]);
  stream.destroy();
});

test('a stream that opens while another one does lets it miss and repeat nothing', async () => {
  const held = Promise.withResolvers<void>();
  const moves = new WeakSet<object>();
  let moveCount = 0;
  const { streams, pass } = createStreams({
    transformQuery({ node, queryId }) {
      // Only the move to the end of the events reads the newest one first.
      if (/"run_events".*"desc"/.test(JSON.stringify(node))) moves.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (moves.has(queryId)) moveCount += 1;
      if (moves.has(queryId) && moveCount === 2) await held.promise;
      return result;
    },
  });
  const opening = ['one', 'other'].map((member) => streams.open(member, account, null));
  const first = await Promise.race(opening);
  const listChanges = collectChanges(first);
  const runs = [await insertEvent()];
  await pass('the first event is sent', () => listChanges().length > 0);
  held.resolve();
  const both = await Promise.all(opening);
  runs.push(await insertEvent());
  await pass('the second event is sent', () => listChanges().includes(runs[1] ?? ''));
  expect(listChanges()).toEqual(runs);
  for (const stream of both) stream.destroy();
});
