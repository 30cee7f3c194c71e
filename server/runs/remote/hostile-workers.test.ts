/** Remote workers that lie, and worker tokens that are used for what they are not for. A worker changes its own runs alone. */
import { ATTEMPT_FILES_BYTES_MAX, ATTEMPT_FILES_MAX, ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../testing/database/multiply-rows.ts';
import { createRun, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { buildEnd, type FakeWorker, registerFakeWorker } from '../../testing/fixtures/fake-worker.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

const APP = nodeApp('async (input) => input');

let server: TestServer;
let token: string;
let honest: FakeWorker;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  token = (await createWorkerToken(server)).token;
  honest = await registerFakeWorker(server, token);
  await pushApp(server, 'app', APP);
  await pushApp(server, 'other', APP);
});
afterAll(() => server.close());

const readRun = async (id: string, application = 'app') => {
  const { body } = await server.request('GET', `/v1/applications/${application}/runs/${id}`);
  return body as { metadata: { status_v2: string; error: string; duration: number }; output?: unknown };
};

/** Returns a run that the honest worker executes. */
async function startRun() {
  const id = await createRun(server, 'app', { input: { secret: 'of the run' } });
  const job = await honest.awaitJob();
  expect(job.run_id).toBe(id);
  return job;
}

describe('the protocol', () => {
  test('accepts the end of an attempt once, and a repeated one changes nothing', async () => {
    const job = await startRun();
    const first = await honest.send(job, 'end', buildEnd({ solution: 1 }));
    expect(first.body).toEqual({ stored: true });
    const again = await honest.send(job, 'end', buildEnd({ solution: 2 }));
    expect(again.body).toEqual({ stored: false });
    expect(await readRun(job.run_id)).toMatchObject({ output: { solution: 1 } });
  });

  test('refuses a worker of another version, with the command that updates it', async () => {
    const old = await server.request('GET', '/v1/workers/protocol?protocol=0', { token });
    expect(old.status).toBe(400);
    expect(old.text).toMatch(/speaks version \d+ of release .*npm run worker/);
  });

  test('stores lines that arrive twice once', async () => {
    const job = await startRun();
    const line = [1_763_625_600_000_000, 'a line'];
    const chunk = { seq: job.fence * 100_000_000 + 1, at: 1_763_625_600_000, lines: [line] };
    const batch = { chunks: [chunk], series: { replacement: null, addition: null } };
    expect((await honest.send(job, 'log', batch)).status).toBe(204);
    expect((await honest.send(job, 'log', batch)).status).toBe(204);
    const live = await server.request('GET', `/v1/applications/app/runs/${job.run_id}/logs/live`);
    expect((live.body as { items: { log: string }[] }).items.map(({ log }) => log)).toEqual(['a line']);
    await honest.send(job, 'end', buildEnd({}));
  });

  test('sends an attempt again whose first response was lost', async () => {
    const job = await startRun();
    // As after a restart of the server, or on another one: nobody knows that it was sent.
    await server.restart();
    const { jobs } = await honest.sync({ free: [] });
    expect(jobs).toMatchObject([{ run_id: job.run_id, fence: job.fence }]);
    await honest.send(job, 'end', buildEnd({}));
  });
});

describe('a worker that lies', () => {
  test.each([
    ['log', { chunks: [], series: { replacement: null, addition: null } }],
    ['proof', { endpoint: 'http://127.0.0.1:4747' }],
    ['files', 'content'],
  ])('cannot reach an attempt of another worker, or with another fencing token: %s', async (action, body) => {
    const job = await startRun();
    const liar = await registerFakeWorker(server, token, { folder_id: 'folder-2' });
    expect((await liar.send(job, action, body)).status).toBe(404);
    expect((await honest.send({ ...job, fence: job.fence + 1 }, action, body)).status).toBe(404);
    await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot end an attempt of another worker, or with another fencing token', async () => {
    const job = await startRun();
    const liar = await registerFakeWorker(server, token, { folder_id: 'folder-2' });
    expect((await liar.send(job, 'end', buildEnd({}))).body).toEqual({ stored: false });
    const older = await honest.send({ ...job, fence: job.fence + 1 }, 'end', buildEnd({}));
    expect(older.body).toEqual({ stored: false });
    expect((await readRun(job.run_id)).metadata.status_v2).toBe('running');
    await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot speak for a worker of another token', async () => {
    const job = await startRun();
    const other = await createWorkerToken(server);
    const path = `/v1/workers/${honest.id}/runs/${job.run_id}/${job.fence}/end`;
    const response = await server.request('POST', path, { token: other.token, body: buildEnd({}) });
    expect(response.status).toBe(404);
    await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot use a file of another attempt as its result', async () => {
    const [one, two] = [await startRun(), await startRun()];
    const { body } = await honest.send(one, 'files', 'the content');
    const file = { bytes: 11, content: null, ...(body as { file_id: string }) };
    const end = buildEnd({});
    const lie = { ...end, outcome: { ...end.outcome, app: { ...end.outcome.app, stdout: file } } };
    const refused = await honest.send(two, 'end', lie);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('must be a file that was uploaded for this attempt');
    for (const job of [one, two]) await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot fill the disk with result files, which are removed when its attempt ends', async () => {
    const job = await startRun();
    const { database } = server.runningServer;
    const attempt = `${job.run_id} ${job.fence}`;
    const listFiles = () =>
      database.read.selectFrom('uploads').select('content_id').where('attempt', '=', attempt).execute();
    expect((await honest.send(job, 'files', 'first')).status).toBe(200);
    const [first] = await listFiles();
    await database.transact((tx) =>
      tx
        .updateTable('contents')
        .set({ bytes: ATTEMPT_FILES_BYTES_MAX - 4 })
        .where('id', '=', first?.content_id ?? '')
        .execute(),
    );
    const tooLarge = await honest.send(job, 'files', 'large');
    expect(tooLarge.status).toBe(400);
    expect(tooLarge.text).toContain('more than 4 bytes');
    // Both arrive at the same time, and only one fits.
    const both = await Promise.all([honest.send(job, 'files', 'abc'), honest.send(job, 'files', 'def')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect((await honest.send(job, 'files', 'g')).status).toBe(200);
    const full = await honest.send(job, 'files', 'h');
    expect(full.status).toBe(400);
    expect(full.text).toContain('at most 100 files');
    expect((await listFiles()).length).toBe(3);
    await honest.send(job, 'end', buildEnd({}));
    await waitUntil('the files are removed', async () => (await listFiles()).length === 0);
  });

  test('cannot store more than a hundred result files, and leaves none when it is gone', async () => {
    const liar = await registerFakeWorker(server, token, { folder_id: 'folder-8' });
    const id = await createRun(server, 'app', { input: {} });
    const job = await liar.awaitJob();
    expect(job.run_id).toBe(id);
    const { database } = server.runningServer;
    const attempt = `${job.run_id} ${job.fence}`;
    await liar.send(job, 'files', 'content');
    await multiplyRows(database, {
      table: 'uploads',
      template: { column: 'attempt', value: attempt },
      count: ATTEMPT_FILES_MAX - 1,
      changes: { id: `'upl-copy-' || ${PADDED_ROW_NUMBER}` },
    });
    expect((await liar.send(job, 'files', 'content')).status).toBe(400);
    expect((await server.request('DELETE', `/v1/workers/${liar.id}`, { token })).status).toBe(204);
    const again = await honest.awaitJob();
    expect(again).toMatchObject({ run_id: id, fence: 2 });
    await waitUntil('the files are removed', async () => {
      const files = database.read.selectFrom('uploads').select('id').where('attempt', '=', attempt);
      return (await files.execute()).length === 0;
    });
    await honest.send(again, 'end', buildEnd({}));
  });

  test('cannot write lines under the number of another attempt', async () => {
    const job = await startRun();
    const chunk = { seq: 5, at: 1, lines: [[1, 'lie']] };
    const batch = { chunks: [chunk], series: { replacement: null, addition: null } };
    expect((await honest.send(job, 'log', batch)).status).toBe(400);
    await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot make a run last longer than it did', async () => {
    const job = await startRun();
    const end = buildEnd({});
    const app = { ...end.outcome.app, execution_ms: 9e12, started_at: 1, ended_at: 9e15 };
    await honest.send(job, 'end', { ...end, outcome: { ...end.outcome, app } });
    expect((await readRun(job.run_id)).metadata.duration).toBeLessThan(600_000);
  });

  test('cannot keep a run in the queue for ever by ends that nobody asked for', async () => {
    const end = buildEnd({});
    const app = { ...end.outcome.app, succeeded: false, reason: 'canceled' };
    let job = await startRun();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      expect(job.fence).toBe(attempt);
      await honest.send(job, 'end', { ...end, outcome: { ...end.outcome, app } });
      if (attempt < ATTEMPTS_MAX) job = await honest.awaitJob();
    }
    const { metadata } = await readRun(job.run_id);
    expect(metadata.status_v2).toBe('failed');
    expect(metadata.error).toContain('nobody had canceled the run');
  });

  test('cannot send a larger request than the protocol allows', async () => {
    const job = await startRun();
    const end = buildEnd({ solution: 'x'.repeat(20 * 1024 * 1024) });
    expect((await honest.send(job, 'end', end)).status).toBe(400);
    expect((await readRun(job.run_id)).metadata.status_v2).toBe('running');
    await honest.send(job, 'end', buildEnd({}));
  });

  test('cannot offer labels that its token does not allow', async () => {
    const labeled = await createWorkerToken(server, { labels: ['gpu'] });
    await registerFakeWorker(server, labeled.token, { labels: ['gpu'], folder_id: 'folder-3' });
    await expect(
      registerFakeWorker(server, labeled.token, { labels: ['region=eu'], folder_id: 'folder-4' }),
    ).rejects.toThrow('which this worker token does not allow; it allows gpu');
  });
});

describe('a worker token', () => {
  test('opens nothing but the protocol, and a key does not open the protocol', async () => {
    const runs = await server.request('GET', '/v1/applications/app/runs', { token });
    expect(runs.status).toBe(403);
    expect(runs.text).toContain('A worker token cannot call listRuns');
    const sync = await server.request('POST', '/v1/workers', { body: {} });
    expect(sync.status).toBe(403);
    expect(sync.text).toContain('Only a remote worker calls registerWorker');
  });

  test('of an application gets no run of another one', async () => {
    const restricted = await createWorkerToken(server, { applications: ['other'] });
    const worker = await registerFakeWorker(server, restricted.token, { folder_id: 'folder-5' });
    const foreign = await createRun(server, 'app', { input: {} });
    const own = await createRun(server, 'other', { input: {} });
    const job = await worker.awaitJob();
    expect(job.run_id).toBe(own);
    await worker.send(job, 'end', buildEnd({}));
    const left = await honest.awaitJob();
    expect(left.run_id).toBe(foreign);
    await honest.send(left, 'end', buildEnd({}));
  });

  test('is shown once, and afterwards with its last use and its workers', async () => {
    const created = await createWorkerToken(server, { name: 'Shown once', applications: ['app'] });
    const list = async () => {
      const { body, text } = await server.request('GET', '/v1/account/worker-tokens');
      expect(text).not.toContain(created.token);
      return (body as { items: { id: string }[] }).items.find(({ id }) => id === created.id);
    };
    expect(await list()).toMatchObject({
      name: 'Shown once',
      applications: ['app'],
      last_used_at: null,
      workers: 0,
    });
    await registerFakeWorker(server, created.token, { folder_id: 'folder-6' });
    expect(await list()).toMatchObject({ workers: 1 });
  });

  test('that is revoked ends its workers, and their runs are queued again', async () => {
    const revoked = await createWorkerToken(server);
    const worker = await registerFakeWorker(server, revoked.token, { folder_id: 'folder-7' });
    const id = await createRun(server, 'app', { input: {} });
    const job = await worker.awaitJob();
    expect(job.run_id).toBe(id);
    expect((await server.request('DELETE', `/v1/account/worker-tokens/${revoked.id}`)).status).toBe(204);
    expect((await worker.send(job, 'end', buildEnd({ solution: 'late' }))).status).toBe(401);
    const again = await honest.awaitJob();
    expect(again).toMatchObject({ run_id: id, fence: 2 });
    await honest.send(again, 'end', buildEnd({ solution: 'second' }));
    expect((await waitForRunEnd(server, 'app', id)).output).toEqual({ solution: 'second' });
  });
});
