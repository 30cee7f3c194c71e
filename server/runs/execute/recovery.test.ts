/** Runs whose server, launcher or app is killed: real processes, SIGKILL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { listRunningApps } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

let data: string;
let address = '';
let name = '';
const started: ServerProcess[] = [];

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-recovery-'));
  name = `recovery_${process.pid}_${performance.now().toFixed(0)}`;
  const postgres = inject('postgres');
  address = postgres ? await createDatabase(postgres, name) : '';
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
  rmSync(data, { recursive: true, force: true });
  if (address) await dropDatabase(inject('postgres'), name);
});

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServerProcess({
    dataFolder: data,
    env: { SWITCHYARD_CAPACITY: '2', ...(address ? { SWITCHYARD_DATABASE: address } : {}), ...env },
  });
  started.push(server);
  return server;
}

/** Waits for the time in its input; its output depends on the input, and so identifies the run. */
const WAITING_APP = nodeApp(`async (input) => {
  console.error('started');
  await new Promise((resolve) => setTimeout(resolve, input.ms));
  return { twice: 2 * input.n };
}`);

async function getInformation(server: ServerProcess, run: string) {
  const { body } = await server.client.call('getRun', { params: { application_id: 'app', run_id: run } });
  return body;
}

function waitForStatus(server: ServerProcess, run: string, holds: (status: RunStatusV2) => boolean) {
  return waitUntil(`the status of ${run}`, async () => {
    const found = await getInformation(server, run);
    return holds(found.status_v2) ? found : null;
  });
}

const waitForEnd = (server: ServerProcess, run: string) => waitForStatus(server, run, isTerminal);
const waitUntilRunning = async (server: ServerProcess, run: string): Promise<void> => {
  await waitForStatus(server, run, (status) => status === 'running');
  await waitUntil(`an app of ${run} runs`, () => [...listRunningApps().values()].includes(run));
};

test('a server killed while runs are queued and running loses none of them', async () => {
  const first = await start();
  await pushApp(first, 'app', WAITING_APP);
  const long = await Promise.all([1, 2].map((n) => createRun(first, 'app', { input: { n, ms: 1500 } })));
  for (const run of long) await waitUntilRunning(first, run);
  const queued = await Promise.all([3, 4, 5].map((n) => createRun(first, 'app', { input: { n, ms: 0 } })));
  const before = [...listRunningApps()].filter(([, run]) => long.includes(run)).map(([pid]) => pid);
  expect(before.length).toBeGreaterThanOrEqual(2);
  await first.kill();

  const second = await start();
  const alive = listRunningApps();
  expect(before.filter((pid) => alive.has(pid))).toEqual([]);
  for (const [index, run] of [...long, ...queued].entries()) {
    const ended = await waitForEnd(second, run);
    expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 2 * (index + 1) } });
    expect(ended.metadata.attempt).toBe(index < 2 ? 2 : 1);
  }
});

test('a killed launcher costs a run one attempt, and the next attempt ends it', async () => {
  const server = await start();
  await pushApp(server, 'app', WAITING_APP);
  const run = await createRun(server, 'app', { input: { n: 21, ms: 700 } });
  await waitUntilRunning(server, run);
  const before = [...listRunningApps()].filter(([, one]) => one === run).map(([pid]) => pid);
  process.kill(server.findLauncherPid() ?? 0, 'SIGKILL');
  const ended = await waitForEnd(server, run);
  expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 42 } });
  expect(ended.metadata.attempt).toBe(2);
  expect(before.filter((pid) => listRunningApps().has(pid))).toEqual([]);
});

test('a killed app fails its run, with the signal named', async () => {
  const server = await start();
  await pushApp(server, 'app', WAITING_APP);
  const run = await createRun(server, 'app', { input: { n: 1, ms: 60_000 } });
  await waitUntilRunning(server, run);
  for (const [pid, one] of listRunningApps()) if (one === run) process.kill(pid, 'SIGKILL');
  const ended = await waitForEnd(server, run);
  expect(ended).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
  expect(ended.error).toContain('SIGKILL');
});

test('a run that is interrupted five times fails with that error', async () => {
  const server = await start();
  await pushApp(server, 'app', WAITING_APP);
  const run = await createRun(server, 'app', { input: { n: 1, ms: 60_000 } });
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await waitUntil(`attempt ${attempt} runs`, async () => {
      const found = await getInformation(server, run);
      return found.metadata.attempt === attempt && [...listRunningApps().values()].includes(run);
    });
    process.kill(server.findLauncherPid() ?? 0, 'SIGKILL');
    await waitUntil(
      'the apps of the dead launcher are gone',
      () => ![...listRunningApps().values()].includes(run),
    );
  }
  const ended = await waitForEnd(server, run);
  expect(ended.status_v2).toBe('failed');
  expect(ended.error).toMatch(/^The run was started 5 times and each time it was cut short before it ended/);
  expect(ended.metadata.attempt).toBe(5);
});

test('SIGTERM requeues running runs without counting the attempt, and the next server ends them', async () => {
  const first = await start();
  await pushApp(first, 'app', WAITING_APP);
  const runs = await Promise.all([1, 2, 3].map((n) => createRun(first, 'app', { input: { n, ms: 800 } })));
  for (const run of runs.slice(0, 2)) await waitForStatus(first, run, (one) => one !== 'queued');
  expect(await first.kill('SIGTERM')).toBe(0);
  expect([...listRunningApps().values()].filter((run) => runs.includes(run))).toEqual([]);

  const second = await start();
  for (const [index, run] of runs.entries()) {
    const ended = await waitForEnd(second, run);
    expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 2 * (index + 1) } });
    expect(ended.metadata.attempt).toBe(1);
    const { body } = await second.client.call('getRunLiveLogs', {
      params: { application_id: 'app', run_id: run },
    });
    expect(body.items.at(-1)?.log).toBe('started');
  }
});
