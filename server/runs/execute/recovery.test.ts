/** Runs whose server is stopped or killed, and its successor on the same database: real processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLASS_LIMITS, EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase, TEMPLATE_DATABASE } from '../../testing/database/postgres-server.ts';
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
  address = postgres ? await createDatabase(postgres, name, TEMPLATE_DATABASE) : '';
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

test('a server killed while runs are queued and running loses none of them, and counts each once', async () => {
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
  let seconds = 0;
  for (const [index, run] of [...long, ...queued].entries()) {
    const ended = await waitForEnd(second, run);
    expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 2 * (index + 1) } });
    expect(ended.metadata.attempt).toBe(index < 2 ? 2 : 1);
    seconds += ended.metadata.execution_duration / 1000;
  }

  // The usage has each run once, with its last attempt, although a kill may precede or interrupt the count.
  await second.kill();
  const third = await start();
  const usage = await waitUntil('the usage counts the runs', async () => {
    const { total } = (await third.client.call('getUsage')).body;
    return total.runs >= 5 ? total : null;
  });
  expect(usage).toMatchObject({ runs: 5, failed_runs: 0 });
  expect(usage.run_seconds).toBeCloseTo(seconds, 2);
  expect(usage.core_seconds).toBeCloseTo(seconds * CLASS_LIMITS[EXECUTION_CLASS_DEFAULT].cores, 1);
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
