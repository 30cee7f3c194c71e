/** F1: the queue is fair between accounts and applications; claims, places and predictions have one order. */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countUsageJob } from '../../../accounts/usage/count-usage.ts';
import { upsertQuotas } from '../../../accounts/usage/quotas-store.ts';
import type { Database } from '../../../platform/database/database.ts';
import { createMetrics } from '../../../platform/http/metrics.ts';
import { createLog } from '../../../platform/log.ts';
import { insertQueuedRun } from '../../../testing/database/insert-rows.ts';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../../testing/database/multiply-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../../testing/database/test-database.ts';
import { createManualClock } from '../../../testing/host/manual-clock.ts';
import type { RunsTable } from '../../store/schema.ts';
import { endRunningRun } from '../../store/transitions.ts';
import { SLOTS_ONLY } from '../../workers/offers.ts';
import { listActiveWorkers, registerWorker } from '../../workers/workers.ts';
import { claimRuns } from '../claim-runs.ts';
import { countRunsBefore } from '../places.ts';
import { findPredictedStarts } from '../prediction/predicted-starts.ts';
import { orderFairly, type QueuedPosition } from './fair-order.ts';
import { listNextQueued } from './read-queue.ts';
import { readSlotUse, SlotUse } from './slot-use.ts';

const NOW = 1_800_000_000_000;
const account = (name: string) => name as AccountId;

/** A run as `priority account/application created_at`, which is also its id. */
function parseRun(id: string): QueuedPosition {
  const [priority, owner = '', createdAt] = id.split(' ');
  const [account_id = '', application_uid = ''] = owner.split('/');
  return {
    ...{ id: id as RunId, priority: Number(priority), created_at: Number(createdAt) },
    ...{ account_id: account(account_id), application_uid },
  };
}

test.each<[string, Record<string, number>, string[]]>([
  ['one application: by priority, then by age', {}, ['1 a/x 9', '6 a/x 1', '6 a/x 2', '9 a/x 0']],
  [
    'two accounts take turns, the older first run first',
    {},
    ['6 a/x 1', '6 b/y 5', '6 a/x 2', '6 b/y 6', '6 a/x 3'],
  ],
  [
    'an account that uses slots waits until the other has as many',
    { 'a/x': 2 },
    ['6 b/y 5', '6 b/y 6', '6 a/x 1', '6 b/y 7', '6 a/x 2'],
  ],
  ['two applications of an account take turns', { 'a/x': 1 }, ['6 a/z 5', '6 a/x 1', '6 a/z 6', '6 a/x 2']],
  [
    'the applications of an account share its turns',
    {},
    ['6 a/x 1', '6 b/y 3', '6 a/z 2', '6 b/y 4', '6 a/x 5'],
  ],
  ['the priority comes before the use', { 'a/x': 9 }, ['5 a/x 1', '6 b/y 1', '6 a/x 0']],
  ['turns of a higher priority count', {}, ['1 a/x 1', '1 a/x 2', '6 b/y 9', '6 b/y 10', '6 a/x 3']],
])('F1: %s', (_, uses, order) => {
  const use = new SlotUse();
  for (const [owner, slots] of Object.entries(uses)) use.add(parseRun(`6 ${owner} 0`), slots);
  expect(orderFairly(order.toSorted().map(parseRun), use).map(({ id }) => id)).toEqual(order);
});

test('F1: no run starves: with turns that last as long as others, each application waits for at most one run of each other', () => {
  const arbitraryOwners = fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(20)), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(arbitraryOwners, (owners) => {
      const runs = owners.map(([a, x, at], index) => parseRun(`6 ${a}/${a}-${x} ${at}.${index + 1}`));
      const ordered = orderFairly(runs, new SlotUse());
      expect(new Set(ordered)).toEqual(new Set(runs));
      // While two accounts wait, none is two runs ahead of the other.
      const waiting = Map.groupBy(runs, (run) => run.account_id);
      const started = new Map<AccountId, number>();
      for (const run of ordered) {
        const count = (started.get(run.account_id) ?? 0) + 1;
        started.set(run.account_id, count);
        for (const [other, all] of waiting)
          if ((started.get(other) ?? 0) < all.length)
            expect(count - (started.get(other) ?? 0)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

describe('in the database', () => {
  let opened: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    opened = await openTestDatabase();
    ({ database } = opened);
  });
  afterEach(() => opened.close());

  let created = 0;
  const queue = (columns: Partial<RunsTable>): Promise<RunId> => {
    created += 1;
    return database.transact((tx) => insertQueuedRun(tx, { created_at: NOW + created, ...columns }));
  };
  const claim = (limit: number, now = NOW): Promise<RunsTable[]> =>
    database.transact((tx) =>
      claimRuns(tx, {
        ...{ workerId: 'worker', classes: EXECUTION_CLASSES, limit, now, containment: 'sandbox' },
        ...{ workflowCapacity: [16, 16, 16], offer: SLOTS_ONLY },
      }),
    );
  const end = (run: RunsTable, now: number) =>
    database.transact((tx) =>
      endRunningRun(tx, run, { status: 'succeeded', finished_at: now, execution_ms: 1 }),
    );

  async function readPlaces(ids: readonly RunId[], now = NOW): Promise<number[]> {
    const runs = ids.map((id) => ({ id }));
    const workers = await listActiveWorkers(database.read, now);
    const find = await countRunsBefore(database.read, { runs, classes: EXECUTION_CLASSES, workers }, now);
    return runs.map((run) => find(run) + 1);
  }

  const register = (now: number, shared: number) =>
    registerWorker(
      database,
      {
        ...{ id: 'worker', folderId: 'folder', capacity: { shared, perClass: {} }, offer: SLOTS_ONLY },
        ...{ host: 'host', version: '1', startedAt: now, kind: 'process', scratchBytes: null },
        ...{ tokenId: null, jobId: null, containment: 'sandbox' },
      },
      now,
    );

  /** The columns of a run of the account, which has an application of the same name. */
  const describeOwner = (name: string) => ({
    ...{ account_id: account(name), application_uid: name, instance_id: name },
    executable_id: `executable-${name}` as RunsTable['executable_id'],
  });

  /** Inserts 50 ended runs of the account that each took so long. */
  async function insertPastRuns(name: string, durationMs: number): Promise<void> {
    const id = await queue(describeOwner(name));
    const initiated_at = NOW - 8_000_000;
    const ended = {
      ...{ status: 'succeeded' as const, initiated_at },
      ...{ finished_at: initiated_at + durationMs, execution_ms: durationMs },
    };
    await database.transact(async (tx) => {
      await tx.updateTable('runs').set({ status: 'running', initiated_at }).where('id', '=', id).execute();
      await tx.updateTable('runs').set(ended).where('id', '=', id).execute();
    });
    await multiplyRows(database, {
      ...{ table: 'runs', template: { column: 'id', value: id }, count: 49 },
      changes: { id: `'past-${name}-' || ${PADDED_ROW_NUMBER}` },
    });
  }

  test.each<[string, Record<string, { seconds: number; priority?: number }>]>([
    ['two accounts with different durations', { long: { seconds: 100 }, short: { seconds: 10 } }],
    [
      'three accounts with different priorities',
      { urgent: { seconds: 30, priority: 3 }, long: { seconds: 100 }, short: { seconds: 20 } },
    ],
    ['runs that are longer than the recent use', { long: { seconds: 700 }, short: { seconds: 90 } }],
  ])('F1: with constant durations, runs start when it was predicted: %s', async (_, accounts) => {
    const [SLOTS, RUNS] = [2, 15];
    const listAll = Object.entries(accounts);
    const findDuration = (run: RunsTable): number => (accounts[run.account_id]?.seconds ?? 0) * 1000;
    await register(NOW, SLOTS);
    for (const [name, { seconds }] of listAll) await insertPastRuns(name, seconds * 1000);
    for (let index = 0; index < RUNS; index += 1)
      for (const [name, { priority = 6 }] of listAll) await queue({ ...describeOwner(name), priority });
    let running = await claim(SLOTS);
    const queued = await database.read
      .selectFrom('runs')
      .select(['id', 'priority'])
      .where('status', '=', 'queued')
      .execute();
    const predicted = await findPredictedStarts(database.read, queued, NOW);
    const started = new Map<RunId, number>();
    const findEnd = (run: RunsTable): number => (run.initiated_at ?? 0) + findDuration(run);
    while (running.length > 0) {
      const now = Math.min(...running.map(findEnd));
      for (const run of running) if (findEnd(run) === now) await end(run, now);
      running = running.filter((run) => findEnd(run) !== now);
      while (running.length < SLOTS) {
        const [next] = await claim(1, now);
        if (!next) break;
        started.set(next.id, now);
        running.push(next);
      }
    }
    const inSeconds = (at: number | undefined): number => Math.round(((at ?? 0) - NOW) / 1000);
    const expected = queued.map(({ id }) => [id, inSeconds(started.get(id)), inSeconds(started.get(id))]);
    expect(
      queued.map(({ id }) => {
        const range = predicted.get(id);
        return typeof range === 'object'
          ? [id, inSeconds(range.earliest), inSeconds(range.latest)]
          : [id, range];
      }),
    ).toEqual(expected);
  });

  test('F1: runs that cannot start are before no run that can, in places and predictions', async () => {
    await register(NOW, 1);
    await insertPastRuns('me', 10_000);
    const mine = describeOwner('me');
    await queue(mine);
    await claim(1);
    const quotas = { account_id: account('limited'), concurrent_runs: 0, core_hours: null };
    await database.transact((tx) => upsertQuotas(tx, quotas));
    const held: RunId[] = [];
    for (let index = 0; index < 30; index += 1) {
      held.push(await queue({ account_id: account('limited'), application_uid: 'limited', priority: 1 }));
      held.push(await queue({ ...mine, retry_at: NOW + 50_000, priority: 2 }));
      held.push(await queue({ ...mine, required_labels: '|gpu|', priority: 3 }));
      held.push(await queue({ ...mine, required_licenses: JSON.stringify({ gurobi: 1 }), priority: 4 }));
    }
    const wanted = [await queue(mine), await queue(mine)];
    expect(await readPlaces(wanted)).toEqual([1, 2]);
    expect((await readPlaces(held)).toSorted((one, other) => one - other)).toEqual(
      held.map((_, index) => index + 1),
    );
    const runs = wanted.map((id) => ({ id, priority: 6 }));
    const starts = await findPredictedStarts(database.read, runs, NOW);
    expect(wanted.map((id) => starts.get(id))).toEqual(
      [10_000, 20_000].map((ms) => ({ earliest: expect.any(Number), latest: NOW + ms })),
    );
  });

  /** Lets an account have 10,000 waiting runs, of one application. */
  async function fillQueue(): Promise<void> {
    const id = await queue({ account_id: account('crowd'), application_uid: 'crowd-app' });
    await multiplyRows(database, {
      ...{ table: 'runs', template: { column: 'id', value: id }, count: 9_999 },
      changes: { id: `'crowd-' || ${PADDED_ROW_NUMBER}` },
    });
  }

  test.each([
    ['another account', { account_id: account('other'), application_uid: 'other-app' }],
    ['another application of the account', { account_id: account('crowd'), application_uid: 'other-app' }],
  ])('F1: a run of %s starts within the duration of one run, although 10,000 runs wait', async (_, owner) => {
    await fillQueue();
    const [SLOTS, DURATION_MS] = [2, 60_000];
    let running: RunsTable[] = [];
    let now = NOW;
    const step = async (): Promise<void> => {
      now += DURATION_MS / SLOTS;
      // One of the runs ends, and the worker claims for its slot.
      const [first, ...others] = running;
      if (first) await end(first, now);
      running = [...others, ...(await claim(1, now))];
    };
    running = await claim(SLOTS, now);
    for (let steps = 0; steps < 4; steps += 1) await step();
    for (let round = 0; round < 3; round += 1) {
      const run = await queue({ ...owner, created_at: now });
      expect((await readPlaces([run], now))[0]).toBeLessThanOrEqual(2);
      let waited = 0;
      for (; !running.some(({ id }) => id === run); waited += DURATION_MS / SLOTS) await step();
      expect(waited).toBeLessThanOrEqual(DURATION_MS);
      for (let steps = 0; steps < 6; steps += 1) await step();
    }
  });

  test('F1: the use of the last ten minutes counts, also after it was added to the minutes', async () => {
    const [busy, idle] = [account('busy'), account('idle')];
    await queue({ account_id: busy, application_uid: 'busy' });
    const [ended] = await claim(1);
    if (!ended) throw new Error('Nothing was claimed.');
    const clock = createManualClock(NOW + 60_000);
    await end(ended, NOW + 60_000);
    const first = await queue({ account_id: busy, application_uid: 'busy' });
    const second = await queue({ account_id: idle, application_uid: 'idle' });
    const list = async (now: number) => {
      const next = await listNextQueued(database.read, { classes: EXECUTION_CLASSES, limit: 2 }, now);
      return next.map(({ id }) => id);
    };
    expect(await list(NOW + 60_000)).toEqual([second, first]);
    await countUsageJob({ database, clock, log: createLog('silent'), metrics: createMetrics() }).runOnce();
    expect(await list(NOW + 60_000)).toEqual([second, first]);
    expect(await list(NOW + 13 * 60_000)).toEqual([first, second]);
  });

  test('F1: the recent use of a long run falls with each minute after its end', async () => {
    const HOURS_MS = 12 * 3_600_000;
    await queue({ account_id: account('a'), application_uid: 'x', execution_class: '8c16gb12h' });
    const [run] = await claim(1);
    if (!run) throw new Error('Nothing was claimed.');
    const endedAt = NOW + HOURS_MS;
    await end(run, endedAt);
    const readUse = async (minutes: number) =>
      (await readSlotUse(database.read, endedAt + minutes * 60_000)).findAccount(account('a'));
    const readAll = () => Promise.all([0, 1, 5, 9.9, 11].map(readUse));
    const expected = [1, 0.9, 0.5, 0.01, 0].map((slots) => expect.closeTo(slots, 6));
    expect(await readAll()).toEqual(expected);
    await countUsageJob({
      ...{ database, clock: createManualClock(endedAt) },
      ...{ log: createLog('silent'), metrics: createMetrics() },
    }).runOnce();
    expect(await readAll()).toEqual(expected);
  });

  test('F1: claims, lists and places have the same order, whatever the classes, requirements, priorities and uses', async () => {
    const arbitraryRuns = fc.array(
      fc.record({
        owner: fc.tuple(fc.nat(2), fc.nat(2)),
        priority: fc.constantFrom(1, 6, 6, 6, 9),
        execution_class: fc.constantFrom(...EXECUTION_CLASSES),
        isRunning: fc.boolean(),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc
        .asyncProperty(arbitraryRuns, async (runs) => {
          for (const {
            owner: [a, x],
            isRunning,
            ...columns
          } of runs.filter((run) => run.isRunning))
            await queue({ account_id: account(`${a}`), application_uid: `${a}-${x}`, ...columns });
          await claim(25);
          for (const {
            owner: [a, x],
            isRunning,
            ...columns
          } of runs.filter((run) => !run.isRunning))
            await queue({ account_id: account(`${a}`), application_uid: `${a}-${x}`, ...columns });
          const listed = await listNextQueued(database.read, { classes: EXECUTION_CLASSES, limit: 25 }, NOW);
          expect(await readPlaces(listed.map(({ id }) => id))).toEqual(listed.map((_, index) => index + 1));
          const claimed = await claim(25);
          expect(claimed.map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
        })
        .afterEach(() => database.transact(async (tx) => void (await tx.deleteFrom('runs').execute()))),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
