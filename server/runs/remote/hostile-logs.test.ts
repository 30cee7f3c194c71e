/** Remote workers that write longer logs and more points than any app has. A server refuses them, and readers stay small. */
import {
  ATTEMPT_LOG_CHARS_MAX,
  LOG_CHUNK_CHARS_MAX,
  LOG_LINES_MAX,
  LOG_REMARK_LINES_MAX,
  SERIES_MAX,
  SERIES_NAME_CHARS_MAX,
  SERIES_ROWS_MAX,
  SERIES_WRITE_POINTS_MAX,
} from '@switchyard/contract/limits.ts';
import type { LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { buildEnd, type FakeWorker, registerFakeWorker } from '../../testing/fixtures/fake-worker.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

let server: TestServer;
let worker: FakeWorker;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  worker = await registerFakeWorker(server, (await createWorkerToken(server)).token);
  await pushApp(server, 'app', nodeApp('async (input) => input'));
});
afterAll(() => server.close());

/** Returns a run that the worker executes, and the number of its first chunk. */
async function startRun() {
  await createRun(server, 'app', { input: 1 });
  const job = await worker.awaitJob();
  return { job, first: job.fence * 100_000_000 + 1 };
}

async function readStatus(id: string): Promise<unknown> {
  const { body } = await server.request('GET', `/v1/applications/app/runs/${id}`);
  return (body as { metadata: { status_v2: string } }).metadata.status_v2;
}

/** A batch with one chunk of lines. */
const buildBatch = ({ seq, lines }: { seq: number; lines: string[] }): LogBatch => ({
  chunks: [
    { seq, at: 1_763_625_600_000, lines: lines.map((text, index) => [1_763_625_600_000_000 + index, text]) },
  ],
  series: { replacement: null, addition: null },
});

/** A batch with new points of series, by their names and the number of points. */
const buildPoints = (seq: number, series: [name: string, points: number][]): LogBatch => ({
  chunks: [],
  series: {
    replacement: null,
    addition: {
      seq,
      part: {
        series: series.map(([name, count]) => ({
          name,
          source: 'log',
          points: Array.from({ length: count }, () => [1, 2]),
        })),
        phases: [],
      },
    },
  },
});

test.each<[string, (seq: number) => LogBatch, string]>([
  [
    'a chunk with more text than a reader holds',
    (seq) => buildBatch({ seq, lines: ['x'.repeat(LOG_CHUNK_CHARS_MAX), 'x'] }),
    `chunks.0.lines has ${LOG_CHUNK_CHARS_MAX + 1} characters of text; a chunk may have ${LOG_CHUNK_CHARS_MAX}`,
  ],
  ['a chunk without lines', (seq) => buildBatch({ seq, lines: [] }), 'chunks.0.lines has 0 items'],
  [
    'more series than an app can have',
    (seq) =>
      buildPoints(
        seq,
        Array.from({ length: SERIES_MAX + 1 }, (_, index) => [`s${index}`, 1]),
      ),
    `series.addition.part.series has ${SERIES_MAX + 1} items; it must have at most ${SERIES_MAX}`,
  ],
  [
    'more points than one write has',
    (seq) => buildPoints(seq, [['objective', SERIES_WRITE_POINTS_MAX + 1]]),
    `points has ${SERIES_WRITE_POINTS_MAX + 1} items; it must have at most ${SERIES_WRITE_POINTS_MAX}`,
  ],
  [
    'a long name of a series',
    (seq) => buildPoints(seq, [['x'.repeat(SERIES_NAME_CHARS_MAX + 1), 1]]),
    `it must have at most ${SERIES_NAME_CHARS_MAX} characters`,
  ],
])('A7: a worker cannot write %s, in a log or at the end', async (_, build, message) => {
  const { job, first } = await startRun();
  const batch = build(first);
  const end = buildEnd({}, { log: { batches: [batch], times: null } });
  for (const response of [await worker.send(job, 'log', batch), await worker.send(job, 'end', end)]) {
    expect(response.status).toBe(400);
    expect(response.text).toContain(message);
  }
  expect(await readStatus(job.run_id)).toBe('running');
  await worker.send(job, 'end', buildEnd({}));
});

test('A7: a worker cannot write a longer log than any app has, in few or many requests', async () => {
  const { job, first } = await startRun();
  const { database } = server.runningServer;
  const chunk = { seq: first, lines: ['one', 'two'] };
  expect((await worker.send(job, 'log', buildBatch(chunk))).status).toBe(204);
  const ofRun = database.read.selectFrom('log_chunks').where('run_id', '=', job.run_id);
  const counted = ofRun.select(['lines_so_far', 'chars_so_far']);
  expect(await counted.execute()).toEqual([{ lines_so_far: 2, chars_so_far: 6 }]);
  const setSize = (size: { lines_so_far: number } | { chars_so_far: number }) =>
    database.transact((tx) =>
      tx.updateTable('log_chunks').set(size).where('run_id', '=', job.run_id).execute(),
    );
  const linesMax = LOG_LINES_MAX + LOG_REMARK_LINES_MAX;
  for (const [size, message] of [
    [{ lines_so_far: linesMax - 1 }, `line ${linesMax + 1} of the attempt; its logs may have ${linesMax}`],
    [{ lines_so_far: 2, chars_so_far: ATTEMPT_LOG_CHARS_MAX - 5 }, `may have ${ATTEMPT_LOG_CHARS_MAX} char`],
  ] as const) {
    await setSize(size);
    const more = buildBatch({ ...chunk, seq: first + 1 });
    const end = buildEnd({}, { log: { batches: [more], times: null } });
    for (const response of [await worker.send(job, 'log', more), await worker.send(job, 'end', end)]) {
      expect(response.status).toBe(400);
      expect(response.text).toContain(message);
    }
    // A smaller number would count from less.
    expect((await worker.send(job, 'log', buildBatch({ ...chunk, seq: first - 1 }))).status).toBe(204);
    expect((await counted.execute()).length).toBe(1);
  }
  await worker.send(job, 'end', buildEnd({}));
  expect(await readStatus(job.run_id)).toBe('succeeded');
});

test('A7: a worker cannot write points without merging them', async () => {
  const { job, first } = await startRun();
  const send = (seq: number) => worker.send(job, 'log', buildPoints(seq, [['objective', 1]]));
  for (let index = 0; index < SERIES_ROWS_MAX + 2; index += 1)
    expect((await send(first + index)).status).toBe(204);
  const refused = await send(first + SERIES_ROWS_MAX + 2);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(`series.addition is write ${SERIES_ROWS_MAX + 3} of the run; after`);
  const { body } = await server.request('GET', `/v1/applications/app/runs/${job.run_id}/series`);
  expect((body as { series: { points: unknown[] }[] }).series[0]?.points.length).toBe(SERIES_ROWS_MAX + 2);
  await worker.send(job, 'end', buildEnd({}));
});

test('A7: a page of a live log ends after a megabyte', async () => {
  const { job, first } = await startRun();
  for (let index = 0; index < 6; index += 1)
    await worker.send(
      job,
      'log',
      buildBatch({ seq: first + index, lines: ['x'.repeat(LOG_CHUNK_CHARS_MAX)] }),
    );
  const read = async (since: string) => {
    const path = `/v1/applications/app/runs/${job.run_id}/logs/live?since=${since}`;
    return (await server.request('GET', path)).body as { items: unknown[]; next_page_token: string };
  };
  const page = await read('');
  expect([page.items.length, (await read(page.next_page_token)).items.length]).toEqual([4, 2]);
  await worker.send(job, 'end', buildEnd({}));
});
