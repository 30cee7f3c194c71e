/** A server that starts real workers on this machine by shell commands, and what the API shows of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provisioner } from '@switchyard/contract/workers/provisioner.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const WORKER = join(import.meta.dirname, '..', '..', '..', 'worker', 'process.ts');
const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
/** Each job is a file with the id of its process. The first start fails. */
const START = `
if [ ! -e credentials ]; then echo no credentials >&2; exit 1; fi
setsid '${process.execPath}' '${WORKER}' $WORKER_ARGUMENTS --data "$PWD/$WORKER_NAME" > /dev/null 2> "$WORKER_NAME.log" &
echo $! | tee "$WORKER_NAME.job"
`;
const LIST = `
for file in "$WORKER_NAME_PREFIX"*.job; do
  [ -e "$file" ] || continue
  id=$(cat "$file")
  if kill -0 "$id" 2> /dev/null; then state=running; else state=ended; fi
  echo "$(basename "$file" .job) $id $state"
done
`;

const folder = mkdtempSync(join(tmpdir(), 'switchyard-workers-'));
let server: TestServer;

beforeAll(async () => {
  const inFolder = (command: string): string => `cd '${folder}' && { ${command}\n}`;
  server = await startTestServer({
    env: {
      PATH: process.env.PATH ?? '',
      SWITCHYARD_CAPACITY: '0',
      SWITCHYARD_PROVISIONER: 'command',
      SWITCHYARD_PROVISIONER_MAX: '1',
      // With 1 s, a worker on a busy machine left in the moment in which it got the run, which then took a second attempt.
      SWITCHYARD_PROVISIONER_IDLE: '5',
      SWITCHYARD_PROVISIONER_SIZE: 'cores=2',
      SWITCHYARD_COMMAND_START: inFolder(START),
      SWITCHYARD_COMMAND_LIST: inFolder(LIST),
      SWITCHYARD_COMMAND_STOP: inFolder('kill "$WORKER_ID"'),
    },
  });
  await pushApp(server, 'app', { 'main.sh': '#!/bin/sh\necho "{}"\n' }, SHELL);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function readProvisioner(token = server.token): Promise<Provisioner> {
  const response = await server.request('GET', '/v1/account/provisioner', { token });
  expect(response.status).toBe(200);
  return response.body as Provisioner;
}

test('a start that fails is shown with its reason, and the next one executes the run and leaves', async () => {
  const checked = await waitUntil('the jobs were listed', async () => {
    const state = await readProvisioner();
    return state.checked_at !== null && state;
  });
  expect(checked).toEqual({
    ...{ adapter: 'command', max_workers: 1, idle_seconds: 5, failed_starts: 0, unservable_runs: 0 },
    ...{ last_error: null, last_error_at: null, retry_at: null, checked_at: expect.stringMatching(/Z$/) },
    jobs: { pending: 0, running: 0, stopping: 0 },
    pending_reasons: [],
  });
  const run = await createRun(server, 'app');
  const failed = await waitUntil('the failure is shown', async () => {
    const state = await readProvisioner();
    return state.last_error !== null && state;
  });
  expect(failed).toMatchObject({
    failed_starts: 1,
    last_error: 'sh ended with status 1: no credentials',
    retry_at: expect.stringMatching(/Z$/),
  });
  const other = await createOtherAccount(server, 'admin');
  expect(await readProvisioner(other.token)).toMatchObject({ last_error: null, failed_starts: 1 });
  const metrics = await server.request('GET', '/metrics');
  expect(metrics.text).toMatch(/^switchyard_provisioner_failed_starts_total 1$/m);

  writeFileSync(join(folder, 'credentials'), '');
  expect(await waitForRunEnd(server, 'app', run)).toMatchObject({
    status_v2: 'succeeded',
    metadata: { attempt: 1 },
  });
  await waitUntil('the worker has left', async () => {
    const { jobs } = await readProvisioner();
    return jobs.pending + jobs.running + jobs.stopping === 0;
  });
  expect(await readProvisioner()).toMatchObject({ failed_starts: 1, last_error: null, retry_at: null });
});
