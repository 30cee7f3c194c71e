/** The worker threads that compute results: they are used again, also after a computation that was given up. */
import { expect, test } from 'vitest';
import type { ResultsRequest } from './compute-results.ts';
import { ResultsWorkerPool } from './results-worker-pool.ts';
import type { RawObservation } from './run-reader.ts';

const REQUEST: ResultsRequest = {
  kind: 'shadow',
  definition: {
    baseline: 'a',
    candidates: ['b'],
    objectives: {},
    maximumRuns: 10,
    from: null,
    until: null,
    sampleShare: 1,
    clusterBy: ['caller'],
  },
  seed: 's',
  progress: 'complete',
  copies: { planned: 10, deleted: 0 },
};

/** Ten runs of each instance, whose values have the given sum. */
const createRuns = (sum: number): RawObservation[] =>
  ['a', 'b'].flatMap((instance_id) =>
    Array.from({ length: 10 }, (_, index) => ({
      ...{ instance_id, version_id: 'v1', input_id: `in-${index}`, option_set: null, scenario_id: null },
      ...{ repetition: 0, status: 'succeeded' as const },
      indicators: JSON.stringify([{ name: 'result.value', value: sum / 10 }]),
    })),
  );

async function* readRuns(sum: number): AsyncGenerator<RawObservation[]> {
  yield createRuns(sum);
}

/** Counts the worker threads that start during the call. */
async function countThreads(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const onWorker = () => {
    count += 1;
  };
  process.on('worker', onWorker);
  await work().finally(() => process.off('worker', onWorker));
  return count;
}

test('the next computation uses the thread of the last one, and none of its runs', async () => {
  const pool = new ResultsWorkerPool();
  const first = await pool.compute(REQUEST, readRuns(10));
  let again: unknown;
  let other: unknown;
  const started = await countThreads(async () => {
    other = await pool.compute(REQUEST, readRuns(20));
    again = await pool.compute(REQUEST, readRuns(10));
  });
  expect([started, again]).toEqual([0, first]);
  expect(other).not.toEqual(first);
  expect(JSON.parse(first.json)).toMatchObject({
    compared: [{ indicators: [{ indicator: 'result.value' }] }],
  });
});

test('runs that cannot be read leave nothing for the next computation', async () => {
  const pool = new ResultsWorkerPool();
  const expected = await pool.compute(REQUEST, readRuns(10));
  async function* readFailing(): AsyncGenerator<RawObservation[]> {
    yield createRuns(30);
    yield createRuns(40);
    throw new Error('The database is unavailable.');
  }
  await expect(pool.compute(REQUEST, readFailing())).rejects.toThrow('The database is unavailable.');
  expect(
    await countThreads(async () => expect(await pool.compute(REQUEST, readRuns(10))).toEqual(expected)),
  ).toBe(0);
});

test('results of megabytes are rated in a thread, short ones without one', async () => {
  const pool = new ResultsWorkerPool();
  const rate = (rest: string) => pool.rate(JSON.stringify({ verdict: 'found', rest }));
  for (const [chars, threads] of [
    [10, 0],
    [2_000_000, 1],
  ] as const)
    expect(
      await countThreads(async () => expect(await rate('x'.repeat(chars))).toBe('{"word":"found"}')),
    ).toBe(threads);
  await expect(pool.rate(`"${'x'.repeat(2_000_000)}`)).rejects.toThrow(TypeError);
});

test('a thread that failed is replaced', async () => {
  const pool = new ResultsWorkerPool();
  const expected = await pool.compute(REQUEST, readRuns(10));
  async function* readBroken(): AsyncGenerator<RawObservation[]> {
    yield createRuns(10).map((run) => ({ ...run, indicators: '{' }));
  }
  await expect(pool.compute(REQUEST, readBroken())).rejects.toThrow('is not JSON');
  const started = await countThreads(async () =>
    expect(await pool.compute(REQUEST, readRuns(10))).toEqual(expected),
  );
  expect(started).toBe(1);
});
