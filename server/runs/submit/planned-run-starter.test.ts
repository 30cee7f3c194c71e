/** Runs made of what is planned: each once, whatever happens in between. */

import { ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import {
  countPlannedRuns,
  insertPlannedRuns,
  listPlannedRuns,
  type PlannedRun,
} from '../store/planned-runs.ts';

let server: TestServer;
afterEach(() => server.close());

/** Plans runs on the input of one run of the application; answers that run. */
async function plan(runs: (contentId: string) => PlannedRun[], notify = true): Promise<string> {
  const { database } = server.runningServer;
  const id = await createRun(server, 'app', { input: { from: 'the original' } });
  const run = await database.read
    .selectFrom('runs')
    .select(['application_uid', 'input_content_id'])
    .where('id', '=', id as RunId)
    .executeTakeFirstOrThrow();
  const about = {
    ownerUid: 'owner',
    applicationUid: run.application_uid,
    plannedAt: 1,
    userEmail: 'maker@example.com',
    experiment: { uid: 'x1', id: 'my-batch' as ExperimentId, type: 'batch' as const },
  };
  await database.transact((tx) => insertPlannedRuns(tx, about, runs(run.input_content_id)));
  if (notify) database.notify('runs-planned');
  return id;
}
const planned = (position: number, contentId: string, more: Partial<PlannedRun> = {}): PlannedRun => ({
  position,
  instanceId: 'latest',
  versionId: '',
  options: { size: String(position) },
  contentId,
  inputFormat: 'json',
  labels: { repetition: position },
  ...more,
});
const born = () =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'request_options', 'user_email', 'labels'])
    .where('experiment_uid', '=', 'x1')
    .execute();
const settled = (topic: 'runs-ended' | 'runs-queued' = 'runs-ended') =>
  server.waitUntil(topic, async () => {
    const { waiting } = await countPlannedRuns(server.runningServer.database.read, 'owner');
    return waiting === 0;
  });

test('every planned run is born once, with what was planned, and ends like any other', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', nodeApp('(input, options) => ({ input, options })'));
  await plan((content) => Array.from({ length: 70 }, (_, position) => planned(position, content)));
  await settled();
  const runs = await born();
  expect(runs.map((run) => JSON.parse(run.request_options).size).sort()).toEqual(
    Array.from({ length: 70 }, (_, position) => String(position)).sort(),
  );
  const one = runs.find((run) => run.labels === '{"repetition":7}');
  expect(one?.user_email).toBe('maker@example.com');
  const { metadata } = await waitForRunEnd(server, 'app', one?.id ?? '');
  expect(metadata).toMatchObject({ experiment_id: 'my-batch', status_v2: 'succeeded' });
  const output = await server.request('GET', `/v1/applications/app/runs/${one?.id}/output`);
  expect(output.body).toMatchObject({ output: { input: { from: 'the original' } } });
});

test('what cannot be born stays with its reason, and keeps nothing else waiting', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  await plan((content) => [
    planned(0, content, { instanceId: 'nowhere' }),
    planned(1, 'c-gone'),
    planned(2, content, { versionId: 'v9' }),
    planned(3, content),
  ]);
  await settled();
  expect(await born()).toHaveLength(1);
  const refused = await listPlannedRuns(server.runningServer.database.read, 'owner', {
    refused: true,
    limit: 10,
  });
  expect(refused.map((row) => row.error)).toEqual([
    'There is no instance "nowhere" of application "app".',
    'The input was deleted before the run could be made.',
    'There is no version "v9" of application "app".',
  ]);
});

test('why a run cannot be born names no option that some role may not see', async () => {
  server = await startTestServer();
  const rules = {
    items: [
      {
        name: 'size',
        option_type: 'int' as const,
        additional_attributes: { max: 5 },
        ui: { hidden_from: ['viewer' as const] },
      },
    ],
    strict: true,
    validation: { enforce: 'all' as const },
  };
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'), { options: rules });
  await plan((content) => [planned(7, content), planned(8, content, { options: { other: 'x' } })]);
  await settled();
  const refused = await listPlannedRuns(server.runningServer.database.read, 'owner', {
    refused: true,
    limit: 10,
  });
  expect(refused.map((row) => row.error)).toEqual([
    'An option of this app that is hidden from some roles breaks its rules; ask somebody who sees it.',
    'options.other is not an option of this app, which allows only none.',
  ]);
});

test('why a run cannot be born is kept, and shortened where it would list a thousand values', async () => {
  server = await startTestServer();
  const values = Array.from({ length: 1000 }, (_, at) => `value-${at}`);
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'), {
    options: {
      items: [{ name: 'size', option_type: 'string', additional_attributes: { values } }],
      validation: { enforce: 'all' },
    },
  });
  await plan((content) => [planned(0, content)]);
  await settled();
  const [long] = await listPlannedRuns(server.runningServer.database.read, 'owner', {
    refused: true,
    limit: 10,
  });
  expect(long?.error.length).toBeLessThan(ERROR_CHARS_MAX);
  expect(long?.error).toMatch(/^options\.size is "0"; it must be one of value-0, value-1, /);
});

test('a row that breaks keeps no other waiting, and is tried again', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  await plan((content) => [planned(0, content), planned(1, content)], false);
  const { database } = server.runningServer;
  const write = (options: string) =>
    database.transact((tx) =>
      tx.updateTable('planned_runs').set({ options }).where('position', '=', 0).execute(),
    );
  await write('{');
  database.notify('runs-planned');
  await server.waitUntil('runs-queued', async () => (await born()).length === 1);
  await write('{}');
  await server.restart();
  await settled('runs-queued');
  expect(await born()).toHaveLength(2);
});

test('what was planned when the server stopped is born when it starts again', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  await plan((content) => [planned(0, content), planned(1, content)], false);
  await server.restart();
  await settled();
  expect(await born()).toHaveLength(2);
});

test('deleting what runs were to follow lets them be', async () => {
  server = await startTestServer();
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  const original = await createRun(server, 'app');
  await plan((content) => [planned(0, content, { parentRunId: original as RunId })], false);
  await server.request('DELETE', `/v1/applications/app/runs/${original}`);
  expect(await countPlannedRuns(server.runningServer.database.read, 'owner')).toEqual({
    waiting: 0,
    refused: 0,
  });
});

test('a run that is born waits, also on an instance whose runs may not', async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: {
      id: 'hasty',
      name: 'Hasty',
      version_id: 'v1',
      configuration: { queuing: { disabled: true, priority: 2 } },
    },
  });
  await plan((content) => [
    planned(0, content, { instanceId: 'hasty' }),
    planned(1, content, { instanceId: 'hasty', priority: 9 }),
  ]);
  await settled('runs-queued');
  const runs = await server.runningServer.database.read
    .selectFrom('runs')
    .select(['priority', 'queuing_disabled', 'status'])
    .where('experiment_uid', '=', 'x1')
    .orderBy('priority')
    .execute();
  expect(runs).toEqual([
    { priority: 2, queuing_disabled: 0, status: 'queued' },
    { priority: 9, queuing_disabled: 0, status: 'queued' },
  ]);
});
