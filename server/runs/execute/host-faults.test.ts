/** R2: faults of the host under acknowledged runs are retried, with pauses, and cost no attempt. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import { claimPauseMs } from '@switchyard/worker/execute/executor.ts';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { buildEnd, registerFakeWorker } from '../../testing/fixtures/fake-worker.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';
import { RETRY_DELAY_MAX_MS } from '../queue/order/retry-times.ts';
import { isHostError } from '../results/host-errors.ts';
import { retryDelayMs } from './finalize.ts';

/** The factor by which delays are shorter. */
let speed = 1;
let aheadMs = 0;
/** Delays of these lengths never end. */
let endless: number[] = [];
/** A clock with delays shorter by the factor; a test skips retry delays by setting it ahead. */
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadMs,
  after: (ms, callback) => (endless.includes(ms) ? () => {} : systemClock.after(ms / speed, callback)),
};

let server: TestServer;
let release = async (): Promise<void> => {};
afterEach(async () => {
  speed = 1;
  endless = [];
  await release();
  await server.close();
});

/** Starts a shell before the shortage of descriptors. Returns a function that sets the limit of this process in the shell. */
async function createDescriptorLimiter(): Promise<((most: string) => Promise<string>) | undefined> {
  const script = `prlimit --version || exit 1; while read -r most; do prlimit --pid ${process.pid} --nofile="$most" && echo done; done`;
  const shell = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  if ((await lines.next()).done) return undefined;
  return async (most) => {
    shell.stdin.write(`${most}\n`);
    const line = await lines.next();
    if (most.startsWith('20000')) {
      shell.stdin.end();
      await once(shell, 'exit');
    }
    return String(line.value);
  };
}

interface Body {
  metadata: { waiting?: { reason: string; message: string } };
}

interface Row {
  id: string;
  status: string;
  attempt: number;
  host_faults: number;
  retry_at: number | null;
}

const listRunRows = (): Promise<Row[]> =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'status', 'attempt', 'host_faults', 'retry_at'])
    .orderBy('created_at')
    .execute();

test('R2: a host without descriptors fails no run, however often the run is retried', async (context) => {
  const limit = await createDescriptorLimiter();
  if (limit === undefined) return context.skip('there is no prlimit here');
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' }, clock });
  await pushApp(
    server,
    'app',
    nodeApp('(input) => new Promise((resolve) => setTimeout(() => resolve({ twice: 2 * input.n }), 300))'),
  );
  await waitForRunEnd(server, 'app', await createRun(server, 'app', { input: { n: 0 } }));
  const finished = await createRun(server, 'app', { input: { n: 1 } });
  const canceled = await createRun(server, 'app', { input: { n: 2 } });
  release = async () => {
    release = async () => {};
    await limit('20000:');
  };
  await limit('20:');
  speed = 50;
  // Six faults of one run are more than the five attempts that a run has.
  await expect
    .poll(async () => {
      const most = Math.max(...(await listRunRows()).map((row) => row.host_faults));
      if (most <= 5) aheadMs += RETRY_DELAY_MAX_MS;
      return most;
    })
    .toBeGreaterThan(5);
  // From here on delays end, and one run waits for its next attempt.
  await expect
    .poll(async () => Math.max(...(await listRunRows()).map((row) => row.retry_at ?? 0)))
    .toBeGreaterThan(clock.now() + 5_000);
  expect((await listRunRows()).filter((row) => row.status === 'failed')).toEqual([]);
  speed = 1;
  await release();
  const faulted = (await listRunRows()).filter((row) => row.host_faults > 0).map((row) => row.id);
  await expect
    .poll(async () => {
      for (const id of faulted) {
        const { body } = await server.request('GET', `/v1/applications/app/runs/${id}`);
        const found = (body as Body).metadata.waiting;
        if (found?.reason === 'host_fault') return found.message;
      }
      return '';
    })
    .toMatch(/^The host could not execute it: .*EMFILE/s);
  await server.request('PATCH', `/v1/applications/app/runs/${canceled}/cancel`);
  await expect
    .poll(async () => {
      aheadMs += RETRY_DELAY_MAX_MS;
      return (await listRunRows()).filter((row) => row.status === 'queued' || row.status === 'running')
        .length;
    })
    .toBe(0);
  expect(await waitForRunEnd(server, 'app', finished)).toMatchObject({
    status_v2: 'succeeded',
    output: { twice: 2 },
    metadata: { attempt: 1 },
  });
  expect((await waitForRunEnd(server, 'app', canceled)).status_v2).toBe('canceled');
});

/** Starts a server with an app that waits for the time in its input. */
async function startWithApp(): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' }, clock });
  const source = `(input) => {
    console.error('started');
    return new Promise((resolve) => setTimeout(() => resolve({ twice: 2 * input.n }), input.ms));
  }`;
  await pushApp(server, 'app', nodeApp(source));
}

/** Creates a run whose input is a blob, and which waits until the only slot is released. */
async function createWaitingRunWithBlob(): Promise<{
  run: string;
  blob: string;
  releaseSlot(): Promise<unknown>;
}> {
  const blobs = (): string[] => globSync(join(server.dataFolder, 'blobs', '??', '*'));
  const blocker = await createRun(server, 'app', { input: { n: 0, ms: 60_000 } });
  await waitForLogLine(server, 'app', blocker, 'started');
  const before = blobs();
  const run = await createRun(server, 'app', { input: { n: 1, ms: 0, long: 'x'.repeat(100_000) } });
  const blob = blobs().find((path) => !before.includes(path)) ?? '';
  return {
    run,
    blob,
    releaseSlot: () => server.request('PATCH', `/v1/applications/app/runs/${blocker}/cancel`),
  };
}

/** Skips pauses until each run that is not canceled has had the given number of faults. */
async function waitForFaults(least: number): Promise<void> {
  await expect
    .poll(async () => {
      aheadMs += RETRY_DELAY_MAX_MS;
      const waiting = (await listRunRows()).filter((row) => row.status !== 'canceled');
      return Math.min(...waiting.map((row) => row.host_faults));
    })
    .toBeGreaterThanOrEqual(least);
}

// Only Linux has a file that can be opened and then fails to be read.
test.skipIf(process.platform !== 'linux')(
  'R2: a run whose input the disk fails to read does not hold up the others',
  async () => {
    await startWithApp();
    const { run, blob, releaseSlot } = await createWaitingRunWithBlob();
    rmSync(blob);
    // A read returns EIO.
    symlinkSync('/proc/self/mem', blob);
    speed = 20;
    endless = [3, 4, 5].map(claimPauseMs);
    await releaseSlot();
    await waitForFaults(5);
    const other = await createRun(server, 'app', { input: { n: 2, ms: 0 } });
    expect((await waitForRunEnd(server, 'app', other)).output).toEqual({ twice: 4 });
    await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);
    expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('canceled');
  },
);

test('R2: runs whose executable is on an unmounted share wait for it', async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' }, clock });
  await pushApp(server, 'app', nodeApp('(input) => ({ twice: 2 * input.n })'));
  const [share, unmounted] = [join(server.dataFolder, 'blobs'), join(server.dataFolder, 'unmounted')];
  renameSync(share, unmounted);
  mkdirSync(share);
  speed = 20;
  // One run reads the executable for both.
  const runs = await Promise.all([1, 2].map((n) => createRun(server, 'app', { input: { n } })));
  await waitForFaults(6);
  expect(readdirSync(share)).toEqual([]);
  rmSync(share, { recursive: true });
  renameSync(unmounted, share);
  aheadMs += RETRY_DELAY_MAX_MS;
  for (const run of runs)
    expect(await waitForRunEnd(server, 'app', run)).toMatchObject({
      status_v2: 'succeeded',
      metadata: { attempt: 1 },
    });
});

test("A6: a run that was ended for the host's memory waits for another attempt, and fails after the last one", async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' }, clock });
  const { token } = await createWorkerToken(server);
  const worker = await registerFakeWorker(server, token);
  await pushApp(server, 'app', nodeApp('(input) => input'));
  const end = buildEnd({});
  const endForMemory = async (is_host_fault: boolean): Promise<void> => {
    const app = end.outcome.app && { ...end.outcome.app, succeeded: false, reason: 'memory' as const };
    const outcome = { ...end.outcome, app, is_host_fault, error: 'The host had 1 MB of memory left.' };
    expect((await worker.send(await worker.awaitJob(), 'end', { ...end, outcome })).status).toBe(200);
  };
  const victim = await createRun(server, 'app', { input: {} });
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    await endForMemory(true);
    const [row] = await listRunRows();
    if (attempt === ATTEMPTS_MAX) break;
    expect(row).toMatchObject({ status: 'queued', attempt, host_faults: attempt });
    expect((row?.retry_at ?? 0) - clock.now()).toBeGreaterThan(5_000);
    aheadMs += RETRY_DELAY_MAX_MS;
  }
  expect(await waitForRunEnd(server, 'app', victim)).toMatchObject({
    status_v2: 'failed',
    metadata: { error: expect.stringMatching(/started 5 times .* The host had 1 MB of memory left\.$/) },
  });
  const hungry = await createRun(server, 'app', { input: {} });
  await endForMemory(false);
  expect(await waitForRunEnd(server, 'app', hungry)).toMatchObject({
    status_v2: 'failed',
    metadata: { error: 'The host had 1 MB of memory left.', attempt: 1 },
  });
});

test('R2: pauses grow up to a maximum', () => {
  expect([1, 2, 3, 6, 7, 5000].map((faults) => retryDelayMs(faults))).toEqual([
    1000, 2000, 4000, 32_000, 60_000, 60_000,
  ]);
  expect([1, 2, 7, 5000].map(claimPauseMs)).toEqual([500, 1000, 30_000, 30_000]);
});

const withCode = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  ...['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EIO', 'EROFS', '53100', '57P01'].map(
    (code): [string, Error, boolean] => [code, withCode(code), true],
  ),
  ['the cause of another error', new Error('it failed', { cause: withCode('EIO') }), true],
  ['a SQLite database that may not be written', Object.assign(new Error(), { errcode: 8 + 256 }), true],
  ...['ENOENT', 'EACCES', 'EISDIR', '23505'].map((code): [string, Error, boolean] => [
    code,
    withCode(code),
    false,
  ]),
  ['an error of this program', new TypeError('x is undefined'), false],
])('R2: %s', (_, error, expected) => {
  expect(isHostError(error)).toBe(expected);
});
