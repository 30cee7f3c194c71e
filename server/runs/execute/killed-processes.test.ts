/** Runs whose launcher or app is killed: real processes, SIGKILL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { killProcess, listRunningApps } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

let data: string;
let server: ServerProcess;

/** Waits for the seconds in its input; its output depends on the input, and so identifies the run. */
const WAITING_APP: Files = {
  main: `#!/bin/sh
IFS= read -r input
n=\${input#*'"n":'} seconds=\${input#*'"seconds":'}
sleep "\${seconds%%[,\\}]*}"
printf '{"twice":%d}' $((2 * \${n%%[,\\}]*}))
`,
};

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-killed-'));
  server = await startServerProcess({ dataFolder: data, env: { SWITCHYARD_CAPACITY: '2' } });
  await pushApp(server, 'app', WAITING_APP, { executable_type: 'binary', runtime: 'native' });
});
afterAll(async () => {
  await server.kill();
  rmSync(data, { recursive: true, force: true });
});

async function getInformation(run: string) {
  const { body } = await server.client.call('getRun', { params: { application_id: 'app', run_id: run } });
  return body;
}

function waitForStatus(run: string, holds: (status: RunStatusV2) => boolean) {
  return waitUntil(`the status of ${run}`, async () => {
    const found = await getInformation(run);
    return holds(found.status_v2) ? found : null;
  });
}

const waitForEnd = (run: string) => waitForStatus(run, isTerminal);
const waitUntilRunning = async (run: string): Promise<void> => {
  await waitForStatus(run, (status) => status === 'running');
  await waitUntil(`an app of ${run} runs`, () => [...listRunningApps().values()].includes(run));
};

test('a killed launcher costs a run one attempt, and the next attempt ends it', async () => {
  const run = await createRun(server, 'app', { input: { n: 21, seconds: 0.7 } });
  await waitUntilRunning(run);
  const before = [...listRunningApps()].filter(([, one]) => one === run).map(([pid]) => pid);
  process.kill(server.findLauncherPid() ?? 0, 'SIGKILL');
  const ended = await waitForEnd(run);
  expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 42 } });
  expect(ended.metadata.attempt).toBe(2);
  expect(before.filter((pid) => listRunningApps().has(pid))).toEqual([]);
});

test('a killed app fails its run, with the signal named', async () => {
  const run = await createRun(server, 'app', { input: { n: 1, seconds: 60 } });
  await waitUntilRunning(run);
  for (const [pid, one] of listRunningApps()) if (one === run) killProcess(pid);
  const ended = await waitForEnd(run);
  expect(ended).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
  expect(ended.error).toContain('SIGKILL');
});

test('W2: a run that is interrupted five times fails with that error, and has five lost attempts', async () => {
  const run = await createRun(server, 'app', { input: { n: 1, seconds: 60 } });
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await waitUntil(`attempt ${attempt} runs`, async () => {
      const found = await getInformation(run);
      return found.metadata.attempt === attempt && [...listRunningApps().values()].includes(run);
    });
    process.kill(server.findLauncherPid() ?? 0, 'SIGKILL');
    await waitUntil(
      'the apps of the dead launcher are gone',
      () => ![...listRunningApps().values()].includes(run),
    );
  }
  const ended = await waitForEnd(run);
  expect(ended.status_v2).toBe('failed');
  expect(ended.error).toMatch(/^The run was started 5 times and each time it was cut short before it ended/);
  expect(ended.metadata.attempt).toBe(5);
  expect(ended.metadata.lost_attempts).toHaveLength(5);
  expect(ended.metadata.lost_attempts?.at(-1)).toEqual({
    initiated_at: ended.metadata.initiated_at,
    finished_at: ended.metadata.finished_at,
  });
});
