/** Leader election: one process on a database leads, and another one follows within seconds. SQLite has one process. */
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import type { Job } from './define-job.ts';
import { Leadership } from './leadership.ts';

const isPostgres = inject('postgres') !== '';
const FAILOVER_MS = 5000;

let opened: TestDatabase;
const members: Leadership[] = [];
beforeEach(async () => {
  opened = await openTestDatabase();
});
afterEach(async () => {
  for (const one of members.splice(0)) await one.stop();
  await opened.close();
});

/** Adds a process to the election. */
async function join(id: string, folderId = id, database?: Database): Promise<Leadership> {
  const leadership = new Leadership({
    database: database ?? (await opened.connectAgain()),
    clock: systemClock,
    log: createLog('silent'),
    holder: { id, folderId, name: `${id}, process 1` },
  });
  members.push(leadership);
  await leadership.start();
  return leadership;
}

/** A job that records its starts and stops. */
function recordJob(name: string, events: string[]): Job {
  return {
    name,
    start: () => events.push(`start ${name}`),
    wake() {},
    async stop() {
      events.push(`stop ${name}`);
    },
    async runOnce() {},
  };
}

const readFence = async (): Promise<number | undefined> =>
  (await opened.database.read.selectFrom('leases').select('fence').executeTakeFirst())?.fence;

test('a server alone leads at once, and its jobs run in their order until it stops', async () => {
  const one = await join('one');
  expect(one.isLeader).toBe(true);
  const events: string[] = [];
  const [first, second] = [recordJob('first', events), recordJob('second', events)];
  one.addJobs([first, second]);
  expect(events).toEqual(['start first', 'start second']);
  await one.stop();
  expect(events.slice(2)).toEqual(['stop second', 'stop first']);
  expect(one.isLeader).toBe(false);
});

describe.runIf(isPostgres)('of several servers', () => {
  test('one leads, and another one as soon as it stops', async () => {
    const events: string[] = [];
    const [one, other] = [await join('one'), await join('other')];
    other.addJobs([recordJob('job', events)]);
    expect([one.isLeader, other.isLeader, events]).toEqual([true, false, []]);
    const begun = performance.now();
    await one.stop();
    await waitUntil('the other leads', () => other.isLeader);
    // Far less than the duration of the lease: it is notified.
    expect(performance.now() - begun).toBeLessThan(2000);
    await waitUntil('its jobs run', () => events.length > 0);
    expect(events).toEqual(['start job']);
    expect(await readFence()).toBe(2);
  });

  test('another one leads within 5 s of the last renewal, and the former leader stops its jobs when it resumes', async () => {
    const pending: (() => void)[] = [];
    let isSuspended = false;
    const database = await opened.connectAgain();
    const events: string[] = [];
    // Timers of a suspended process call back when it resumes.
    const suspended = new Leadership({
      database,
      clock: {
        ...systemClock,
        after: (ms, callback) =>
          systemClock.after(ms, () => (isSuspended ? pending.push(callback) : callback())),
      },
      log: createLog('silent'),
      holder: { id: 'one', folderId: 'one', name: 'one' },
    });
    members.push(suspended);
    await suspended.start();
    suspended.addJobs([recordJob('job', events)]);
    const other = await join('other');
    isSuspended = true;
    const begun = performance.now();
    await waitUntil('the other leads', () => other.isLeader);
    expect(performance.now() - begun).toBeLessThan(FAILOVER_MS);
    expect(suspended.isLeader).toBe(true);
    isSuspended = false;
    for (const callback of pending) callback();
    await waitUntil('the former leader knows', () => !suspended.isLeader);
    await waitUntil('its jobs have stopped', () => events.includes('stop job'));
    expect(other.isLeader).toBe(true);
    expect(await readFence()).toBe(2);
  });

  test('a restart in the data folder of the leader leads at once', async () => {
    await opened.database.transact((tx) =>
      tx
        .insertInto('leases')
        .values({
          name: 'background-jobs',
          holder: 'killed',
          folder_id: 'folder',
          holder_name: 'killed',
          fence: 7,
          expires_at: Date.now() + 3_600_000,
        })
        .execute(),
    );
    expect((await join('elsewhere')).isLeader).toBe(false);
    expect((await join('restarted', 'folder')).isLeader).toBe(true);
    expect(await readFence()).toBe(8);
  });

  test('of ten that try at once, one leads', async () => {
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => join(`server-${n}`, `folder-${n}`, opened.database)),
    );
    expect(all.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  });
});
