/** The shape of background jobs: when they run, what a failing row delays, what stops them, and what they measure. */
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { TopicListeners } from '../database/database.ts';
import type { Log } from '../log.ts';
import { defineJob, type JobDefinition } from './define-job.ts';
import { createJobMetrics } from './job-metrics.ts';

const INTERVAL_MS = 60_000;
const ROW_RETRY_MS = 5000;
const START = 1_700_000_000_000;

/** A clock whose time and timers a test moves. */
function createTimerClock(): Clock & { advance(ms: number): Promise<void> } {
  let now = START;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    elapsed: () => now - START,
    processorTime: () => 0,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      now += ms;
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
      await flushPromises();
    },
  };
}

/** Resolves when every promise that can resolve without a timer has. */
const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = createTimerClock();
  const database = new TopicListeners();
  const registry = new Registry();
  const metrics = { jobs: createJobMetrics(registry) };
  const logged: object[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (fields) => logged.push(fields) };
  const define = <Row>(definition: Partial<JobDefinition<Row>>) =>
    defineJob<Row>({ clock, database, log, metrics }, {
      name: 'test-rows',
      intervalMs: INTERVAL_MS,
      ...definition,
    } as JobDefinition<Row>);
  const measure = async (name: string): Promise<number | undefined> => {
    const text = await registry.getSingleMetricAsString(`switchyard_job_${name}`);
    const value = /^switchyard_job_\w+\{job="test-rows"\} (\S+)$/m.exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return { clock, database, logged, define, measure };
}

/** A gate that holds work until a test opens it. */
function createGate(): { open(): void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

/** Counts runs of a job; `gates` hold the first ones. */
function countRuns(gates: readonly { opened: Promise<void> }[] = []) {
  const runs = { started: 0, ended: 0, concurrent: 0, concurrentMax: 0 };
  const handle = async (): Promise<undefined> => {
    const gate = gates[runs.started];
    runs.started += 1;
    runs.concurrent += 1;
    runs.concurrentMax = Math.max(runs.concurrentMax, runs.concurrent);
    await gate?.opened;
    runs.concurrent -= 1;
    runs.ended += 1;
    return undefined;
  };
  return { runs, handle };
}

describe('a job runs', () => {
  test('at its start and at its interval', async () => {
    const { clock, define } = setUp();
    const { runs, handle } = countRuns();
    const job = define({ handle });
    await clock.advance(INTERVAL_MS);
    expect(runs.ended).toBe(0);
    job.start();
    await flushPromises();
    expect(runs.ended).toBe(1);
    await clock.advance(INTERVAL_MS - 1);
    expect(runs.ended).toBe(1);
    await clock.advance(1);
    expect(runs.ended).toBe(2);
  });

  test('on notifications of its topics only', async () => {
    const { database, define } = setUp();
    const { runs, handle } = countRuns();
    const job = define({ wakeOn: ['runs-ended', 'runs-canceled'], handle });
    job.start();
    await flushPromises();
    for (const topic of ['runs-ended', 'runs-canceled', 'runs-queued']) {
      database.notify(topic);
      await flushPromises();
    }
    expect(runs.ended).toBe(3);
  });

  test('once for all notifications within the debounce time', async () => {
    const { clock, database, define } = setUp();
    const { runs, handle } = countRuns();
    const job = define({ wakeOn: ['runs-ended'], debounceMs: 25, handle });
    job.start();
    await flushPromises();
    for (let count = 0; count < 10; count += 1) database.notify('runs-ended');
    await clock.advance(24);
    expect(runs.ended).toBe(1);
    await clock.advance(1);
    expect(runs.ended).toBe(2);
  });

  test('once more after any number of wakes during a run, and never twice at once', async () => {
    const { define } = setUp();
    const gate = createGate();
    const { runs, handle } = countRuns([gate]);
    const job = define({ handle });
    job.start();
    for (let wakes = 0; wakes < 5; wakes += 1) job.wake();
    expect(runs.started).toBe(1);
    gate.open();
    await flushPromises();
    expect(runs).toEqual({ started: 2, ended: 2, concurrent: 0, concurrentMax: 1 });
  });

  test('outside its schedule by runOnce, after the current run', async () => {
    const { define } = setUp();
    const gate = createGate();
    const { runs, handle } = countRuns([gate]);
    const job = define({ handle });
    await Promise.all([job.runOnce(), Promise.resolve().then(gate.open)]);
    job.start();
    await job.runOnce();
    await flushPromises();
    expect(runs).toEqual({ started: 3, ended: 3, concurrent: 0, concurrentMax: 1 });
  });

  test('again at its interval after a failure, which runOnce rejects with', async () => {
    const { clock, logged, define, measure } = setUp();
    let runs = 0;
    const job = define({
      async handle() {
        runs += 1;
        if (runs < 3) throw new Error('no database');
        return undefined;
      },
    });
    await expect(job.runOnce()).rejects.toThrow('no database');
    expect(logged).toEqual([]);
    job.start();
    await flushPromises();
    expect(logged).toEqual([{ job: 'test-rows', error: 'no database', retryInMs: INTERVAL_MS }]);
    expect(await measure('last_run_timestamp_seconds')).toBeUndefined();
    await clock.advance(INTERVAL_MS);
    expect(runs).toBe(3);
    expect(await measure('failures_total')).toBe(2);
    expect(await measure('last_run_timestamp_seconds')).toBe((START + INTERVAL_MS) / 1000);
  });
});

test('a job that was stopped and started runs once for each notification', async () => {
  const { database, define } = setUp();
  const { runs, handle } = countRuns();
  const job = define({ wakeOn: ['runs-ended'], handle });
  job.start();
  job.start();
  await job.stop();
  job.start();
  await flushPromises();
  const before = runs.started;
  database.notify('runs-ended');
  await flushPromises();
  expect(runs.started).toBe(before + 1);
});

describe('a stopped job', () => {
  test('waits for its current run, calls onStop after it, and begins no other', async () => {
    const { clock, database, define } = setUp();
    const gate = createGate();
    const { runs, handle } = countRuns([gate]);
    const order: string[] = [];
    const job = define({
      wakeOn: ['runs-ended'],
      handle,
      onStop: async () => {
        order.push(`onStop after ${runs.ended}`);
      },
    });
    job.start();
    job.wake();
    const stopped = job.stop().then(() => order.push('stopped'));
    await flushPromises();
    expect(order).toEqual([]);
    gate.open();
    await stopped;
    expect(order).toEqual(['onStop after 1', 'stopped']);
    job.wake();
    database.notify('runs-ended');
    await clock.advance(10 * INTERVAL_MS);
    expect(runs.started).toBe(1);
  });

  test.each([
    { what: 'row', isParallel: false, handled: 1 },
    { what: 'parallel batch', isParallel: true, handled: 2 },
  ])('ends its run after the current $what', async ({ isParallel, handled }) => {
    const { define } = setUp();
    const gate = createGate();
    const rows: number[] = [];
    const job = define<number>({
      batchSize: 2,
      isParallel,
      listRows: async (limit, after) => [1, 2, 3, 4].filter((row) => row > (after ?? 0)).slice(0, limit),
      formatKey: String,
      async handleRow(row) {
        await gate.opened;
        rows.push(row);
      },
    });
    job.start();
    await flushPromises();
    const stopped = job.stop();
    gate.open();
    await stopped;
    expect(rows).toHaveLength(handled);
  });
});

describe('a job over a statement', () => {
  test.each([
    { counts: [0], calls: 1, total: 0 },
    { counts: [9], calls: 1, total: 9 },
    { counts: [10, 10, 3], calls: 3, total: 23 },
    { counts: [10, 0], calls: 2, total: 10 },
  ])('repeats it while a batch is full: $counts', async ({ counts, calls, total }) => {
    const { define, measure } = setUp();
    const limits: number[] = [];
    const job = define({
      batchSize: 10,
      async handle(limit: number) {
        limits.push(limit);
        return counts[limits.length - 1];
      },
    });
    await job.runOnce();
    expect(limits).toEqual(Array.from({ length: calls }, () => 10));
    expect(await measure('rows_total')).toBe(total);
  });
});

/** A table of rows by number; handled rows disappear. */
function createTable(count: number, broken: ReadonlySet<number>) {
  const rows = new Set(Array.from({ length: count }, (_, index) => index + 1));
  const attempts: number[] = [];
  const handleRow = async (row: number): Promise<void> => {
    attempts.push(row);
    if (broken.has(row)) throw new Error(`row ${row} is broken`);
    rows.delete(row);
  };
  return { rows, attempts, handleRow };
}

describe('a failing row', () => {
  const kinds = [
    { kind: 'one after the other, by a cursor', isParallel: false, hasCursor: true, isBatch: false },
    { kind: 'in parallel, by a cursor', isParallel: true, hasCursor: true, isBatch: false },
    { kind: 'one after the other, without a cursor', isParallel: false, hasCursor: false, isBatch: false },
    { kind: 'as one batch, without a cursor', isParallel: false, hasCursor: false, isBatch: true },
  ];
  test.each(kinds)('delays no other row: $kind', async ({ isParallel, hasCursor, isBatch }) => {
    const { logged, define, measure } = setUp();
    const broken = new Set([2, 3, 7]);
    const table = createTable(10, broken);
    const job = define<number>({
      batchSize: 4,
      isParallel,
      listRows: async (limit, after) =>
        [...table.rows].filter((row) => !hasCursor || row > (after ?? 0)).slice(0, limit),
      formatKey: (row) => `row-${row}`,
      ...(isBatch
        ? {
            // Like a transaction: all of the rows, or none.
            async handleRows(rows: readonly number[]) {
              for (const row of rows) if (broken.has(row)) throw new Error(`row ${row} is broken`);
              for (const row of rows) table.rows.delete(row);
            },
          }
        : { handleRow: table.handleRow }),
    });
    await job.runOnce();
    expect([...table.rows]).toEqual([2, 3, 7]);
    expect(logged).toEqual(
      [...broken].map((row) => ({
        job: 'test-rows',
        row: `row-${row}`,
        error: `row ${row} is broken`,
        retryInMs: ROW_RETRY_MS,
      })),
    );
    expect(await measure('rows_total')).toBe(7);
    expect(await measure('failures_total')).toBe(3);
  });

  test('is not tried again for 5 s, and then is', async () => {
    const { clock, define } = setUp();
    const broken = new Set([2]);
    const table = createTable(3, broken);
    const job = define<number>({
      listRows: async () => [...table.rows],
      formatKey: String,
      handleRow: table.handleRow,
    });
    await job.runOnce();
    expect(table.attempts).toEqual([1, 2, 3]);
    await clock.advance(ROW_RETRY_MS - 1);
    await job.runOnce();
    expect(table.attempts).toEqual([1, 2, 3]);
    broken.clear();
    await clock.advance(1);
    await job.runOnce();
    expect(table.attempts).toEqual([1, 2, 3, 2]);
    expect([...table.rows]).toEqual([]);
  });

  test('does not repeat a list that ignores the cursor for ever', async () => {
    const { define } = setUp();
    const table = createTable(4, new Set([1, 2, 3, 4]));
    let lists = 0;
    const job = define<number>({
      batchSize: 2,
      listRows: async (limit) => {
        lists += 1;
        return [...table.rows].slice(0, limit);
      },
      formatKey: String,
      handleRow: table.handleRow,
    });
    await job.runOnce();
    expect(lists).toBe(2);
    expect(table.attempts).toEqual([1, 2]);
  });
});
