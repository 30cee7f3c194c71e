/** Replays of runs whose surroundings have changed: secrets, input, instance, version, and the server itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReplayComparison } from '@switchyard/contract/runs/replays.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, type Files, pushApp, type RunOptions } from '../../testing/fixtures/apps.ts';
import { COMPARISON } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { listRunningApps } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

/** Reports its input, the length of its secret and its option `less`; waits for the seconds in the input. */
const APP: Files = {
  main: `#!/bin/sh
less=0
while [ $# -gt 1 ]; do
  case "$1" in *less) less=$2 ;; esac
  shift 2
done
IFS= read -r input
case "$input" in
  *'"seconds":'*)
    seconds=\${input#*'"seconds":'}
    sleep "\${seconds%%[,\\}]*}"
    ;;
esac
printf '{"solution":{"input":%s,"secret":%d,"less":%s},"statistics":{"schema":"v1","result":{"value":%d}}}' \\
  "$input" "\${#KEY}" "$less" "\${#KEY}"
`,
};

let data: string;
let server: ServerProcess;
async function start(): Promise<void> {
  server = await startServerProcess({ dataFolder: data, env: { SWITCHYARD_CAPACITY: '2' } });
}
const ROOT = '/v1/applications/app';
const post = async (path: string, body: object): Promise<void> =>
  expectStatus(await server.request('POST', `${ROOT}${path}`, { body }), 201);
const remove = async (path: string): Promise<void> =>
  expectStatus(await server.request('DELETE', `${ROOT}${path}`), 204);

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-replays-'));
  await start();
  await pushApp(server, 'app', APP, { executable_type: 'binary', runtime: 'native' });
  await post('/versions', { id: 'v1', name: 'Version one' });
  for (const [id, less] of [
    [COMPARISON.baseline_instance_id, '1'],
    [COMPARISON.candidate_instance_id, '2'],
    ['short-lived', '3'],
  ] as const)
    await post('/instances', {
      id,
      name: `Instance ${id}`,
      version_id: 'v1',
      configuration: { options: { less } },
    });
});
afterAll(async () => {
  await server.kill();
  rmSync(data, { recursive: true, force: true });
});

const waitForEnd = (run: string) =>
  waitUntil(`the end of ${run}`, async () => {
    const params = { application_id: 'app', run_id: run };
    const { body } = await server.client.call('getRun', { params });
    return isTerminal(body.status_v2) ? body : null;
  });
const runToEnd = async (options: RunOptions) => waitForEnd(await createRun(server, 'app', options));
const requestReplay = (run: string) => server.request('POST', `${ROOT}/runs/${run}/replay`);
const replay = async (run: string): Promise<string> => {
  const response = await requestReplay(run);
  expectStatus(response, 202);
  return (response.body as { run_id: string }).run_id;
};
const waitForComparison = (original: string, id: string): Promise<ReplayComparison> =>
  waitUntil(`the comparison of ${id}`, async () => {
    const params = { application_id: 'app', run_id: original as RunId };
    const { body } = await server.client.call('listRunReplays', { params });
    return body.items.find((each) => each.run_id === id)?.comparison;
  });
const replayAndCompare = async (original: string): Promise<ReplayComparison> =>
  waitForComparison(original, await replay(original));

describe('a run with secrets', () => {
  const setSecret = async (method: string, path: string, value: string) =>
    server.request(method, `${ROOT}/secrets${path}`, {
      body: { id: 'keys', name: 'Keys', secrets: [{ type: 'env', location: 'KEY', value }] },
    });

  test('gets those of the collection at the time of the replay, and names them as a cause', async () => {
    expectStatus(await setSecret('POST', '', 'three'), 201);
    const body = { configuration: { secrets_collection_id: 'keys' } };
    const original = await runToEnd({ input: { n: 1 }, body });
    expect(original).toMatchObject({ error: '', output: { solution: { secret: 5 } } });
    expect(await replayAndCompare(original.id)).toMatchObject({ verdict: 'bytes_equal', may_differ: [] });
    expectStatus(await setSecret('PUT', '/keys', 'fourteen'), 200);
    const changed = await replayAndCompare(original.id);
    expect(changed).toMatchObject({ verdict: 'different', original_value: 5, replay_value: 8 });
    expect(changed.may_differ.map(({ cause }) => cause)).toContain('secrets');
    expect(JSON.stringify(changed)).not.toContain('fourteen');
    await remove('/secrets/keys');
    expectError(await requestReplay(original.id), 400, '"keys"', 'was deleted');
  });
});

test('a run of a deleted managed input has the content of the input', async () => {
  const { body: upload } = await server.client.call('createRunUpload', { params: { application_id: 'app' } });
  await fetch(upload.upload_url, { method: 'PUT', body: '{"n":7}' });
  await post('/inputs', { id: 'seven', upload_id: upload.upload_id });
  const original = await runToEnd({ body: { input_id: 'seven' } });
  expect(original).toMatchObject({ error: '', output: { solution: { input: { n: 7 } } } });
  await remove('/inputs/seven');
  expect(await replayAndCompare(original.id)).toMatchObject({ verdict: 'bytes_equal' });
});

test('a run of a deleted instance has its options, and its id', async () => {
  const original = await runToEnd({ instance: 'short-lived', input: { n: 1 } });
  await remove('/instances/short-lived');
  const id = await replay(original.id);
  expect(await waitForEnd(id)).toMatchObject({
    application_instance_id: 'short-lived',
    output: { solution: { less: 3 } },
  });
  expect(await waitForComparison(original.id, id)).toMatchObject({ verdict: 'bytes_equal' });
});

describe('a shadow test', () => {
  test('copies no replay, and the replay of a copy is none of its runs', async () => {
    const path = `${ROOT}/experiments/shadow`;
    const draft = { id: 'copied', name: 'Copied', comparison: COMPARISON };
    await post('/experiments/shadow', { ...draft, termination_events: { maximum_runs: 10 } });
    expectStatus(await server.request('PUT', `${path}/copied/start`), 204);
    const original = await runToEnd({ instance: COMPARISON.baseline_instance_id, input: { n: 1 } });
    const listCopies = async () => {
      const { body } = await server.request('GET', `${path}/copied/runs`);
      const { runs } = body as { runs: { id: string; experiment_id?: string; status_v2: string }[] };
      return runs.filter((run) => run.experiment_id === 'copied');
    };
    const copy = await waitUntil('the copy has ended', async () =>
      (await listCopies()).find((run) => run.status_v2 === 'succeeded'),
    );
    for (const run of [original.id, copy.id]) {
      const id = await replay(run);
      expect(await waitForComparison(run, id)).toMatchObject({ verdict: 'bytes_equal' });
      const { metadata, run_type } = await waitForEnd(id);
      expect(metadata.tracking?.cloned_run_id).toBe(run);
      expect(run_type.reference_id).toBe(original.run_type.reference_id);
    }
    // A run that is created after the replays is copied after them.
    await runToEnd({ instance: COMPARISON.baseline_instance_id, input: { n: 2 } });
    await waitUntil('the second copy', async () => (await listCopies()).length >= 2);
    expect(await listCopies()).toHaveLength(2);
  });
});

test('a run executed elsewhere is refused, and leaves no replay', async () => {
  const external = await createRun(server, 'app', { body: { input: {}, result: { status: 'succeeded' } } });
  expectError(await requestReplay(external), 400, 'is external');
  const params = { application_id: 'app', run_id: external as RunId };
  expect((await server.client.call('listRunReplays', { params })).body.items).toEqual([]);
});

test('a replay whose server is killed is executed again, and compared once', async () => {
  const original = await runToEnd({ input: { n: 1, seconds: 0.7 } });
  const id = await replay(original.id);
  await waitUntil('the app of the replay runs', () => [...listRunningApps().values()].includes(id));
  await server.kill();
  await start();
  expect(await waitForComparison(original.id, id)).toMatchObject({ verdict: 'bytes_equal' });
  expect(await waitForEnd(id)).toMatchObject({ status_v2: 'succeeded', metadata: { attempt: 2 } });
  const params = { application_id: 'app', run_id: original.id as RunId };
  expect((await server.client.call('listRunReplays', { params })).body.items).toHaveLength(1);
});
