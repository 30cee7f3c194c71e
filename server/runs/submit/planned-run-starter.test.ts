/** The start of planned runs: each starts once, also after an error or a restart. */
import { ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRun, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import {
  countPlannedRuns,
  insertPlannedRuns,
  listPlannedRuns,
  type PlannedRun,
} from '../store/planned-runs.ts';

let server: TestServer;
/** Each test has its own application, which is also the owner of its planned runs. */
let application: string;
let applications = 0;

beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(() => {
  applications += 1;
  application = `app-${applications}`;
});
afterAll(() => server.close());

/** Answers its input with little processor time: some tests have many runs. */
const ECHO_APP = { main: `#!/bin/sh\nIFS= read -r input\nprintf '{"input":%s}' "$input"\n` };
const push = (requirements: object = {}) =>
  pushApp(server, application, ECHO_APP, {
    executable_type: 'binary',
    runtime: 'native',
    ...requirements,
  });

/** Plans runs on the input of a run of the application, and returns the id of that run. */
async function plan(runs: (contentId: string) => PlannedRun[], notify = true): Promise<string> {
  const { database } = server.runningServer;
  const id = await createRun(server, application, { input: { from: 'the original' } });
  const run = await database.read
    .selectFrom('runs')
    .select(['application_uid', 'input_content_id'])
    .where('id', '=', id as RunId)
    .executeTakeFirstOrThrow();
  const owner = {
    ownerUid: application,
    applicationUid: run.application_uid,
    plannedAt: 1,
    userEmail: 'owner@example.com',
    key: null,
    experiment: { uid: `x-${application}`, id: 'my-batch' as ExperimentId, type: 'batch' as const },
  };
  await database.transact((tx) => insertPlannedRuns(tx, owner, runs(run.input_content_id)));
  if (notify) database.notify('runs-planned');
  return id;
}
const createPlannedRun = (
  position: number,
  contentId: string,
  overrides: Partial<PlannedRun> = {},
): PlannedRun => ({
  position,
  instanceId: 'latest',
  versionId: '',
  options: { size: String(position) },
  contentId,
  inputFormat: 'json',
  labels: { repetition: position },
  ...overrides,
});
const listStartedRuns = () =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'request_options', 'user_email', 'labels'])
    .where('experiment_uid', '=', `x-${application}`)
    .execute();
const waitForStarts = (topic: 'runs-ended' | 'runs-queued' = 'runs-ended') =>
  server.waitUntil(topic, async () => {
    const { waiting } = await countPlannedRuns(server.runningServer.database.read, application);
    return waiting === 0;
  });

test('every planned run starts once, with its planned columns, and ends', async () => {
  await push();
  await plan((content) => Array.from({ length: 70 }, (_, position) => createPlannedRun(position, content)));
  await waitForStarts();
  const runs = await listStartedRuns();
  expect(runs.map((run) => JSON.parse(run.request_options).size).sort()).toEqual(
    Array.from({ length: 70 }, (_, position) => String(position)).sort(),
  );
  const seventh = runs.find((run) => run.labels === '{"repetition":7}');
  expect(seventh?.user_email).toBe('owner@example.com');
  const { metadata } = await waitForRunEnd(server, application, seventh?.id ?? '');
  expect(metadata).toMatchObject({ experiment_id: 'my-batch', status_v2: 'succeeded' });
  const output = await server.request('GET', `/v1/applications/${application}/runs/${seventh?.id}/output`);
  expect(output.body).toMatchObject({ output: { input: { from: 'the original' } } });
});

test('a refused run keeps its row with the reason, and the other runs start', async () => {
  await push();
  await plan((content) => [
    createPlannedRun(0, content, { instanceId: 'nowhere' }),
    createPlannedRun(1, 'c-gone'),
    createPlannedRun(2, content, { versionId: 'v9' }),
    createPlannedRun(3, content),
  ]);
  await waitForStarts();
  expect(await listStartedRuns()).toHaveLength(1);
  const refused = await listPlannedRuns(server.runningServer.database.read, application, {
    refused: true,
    limit: 10,
  });
  expect(refused.map((row) => row.error)).toEqual([
    `There is no instance "nowhere" of application "${application}".`,
    'The input was deleted before the run could be created.',
    `There is no version "v9" of application "${application}".`,
  ]);
});

test('the reason of a refusal names no option that is hidden from some role', async () => {
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
  await push({ options: rules });
  await plan((content) => [
    createPlannedRun(7, content),
    createPlannedRun(8, content, { options: { other: 'x' } }),
  ]);
  await waitForStarts();
  const refused = await listPlannedRuns(server.runningServer.database.read, application, {
    refused: true,
    limit: 10,
  });
  expect(refused.map((row) => row.error)).toEqual([
    'The run breaks a rule for an option that is hidden from some roles. Ask a member who can see the option.',
    'options.other is not an option of this app, which allows only none.',
  ]);
});

test('the reason of a refusal stays short for an option with a thousand values', async () => {
  const values = Array.from({ length: 1000 }, (_, index) => `value-${index}`);
  await push({
    options: {
      items: [{ name: 'size', option_type: 'string', additional_attributes: { values } }],
      validation: { enforce: 'all' },
    },
  });
  await plan((content) => [createPlannedRun(0, content)]);
  await waitForStarts();
  const [refused] = await listPlannedRuns(server.runningServer.database.read, application, {
    refused: true,
    limit: 10,
  });
  expect(refused?.error.length).toBeLessThan(ERROR_CHARS_MAX);
  expect(refused?.error).toMatch(/^options\.size is "0"; it must be one of value-0, value-1, /);
});

test('an invalid row delays no other row, and starts once it is valid', async () => {
  await push();
  await plan((content) => [createPlannedRun(0, content), createPlannedRun(1, content)], false);
  const { database } = server.runningServer;
  const updateOptions = (options: string) =>
    database.transact((tx) =>
      tx
        .updateTable('planned_runs')
        .set({ options })
        .where('owner_uid', '=', application)
        .where('position', '=', 0)
        .execute(),
    );
  await updateOptions('{');
  database.notify('runs-planned');
  await server.waitUntil('runs-queued', async () => (await listStartedRuns()).length === 1);
  await updateOptions('{}');
  await server.restart();
  await waitForStarts('runs-queued');
  expect(await listStartedRuns()).toHaveLength(2);
});

test('planned runs start after a restart of the server', async () => {
  await push();
  await plan((content) => [createPlannedRun(0, content), createPlannedRun(1, content)], false);
  await server.restart();
  await waitForStarts();
  expect(await listStartedRuns()).toHaveLength(2);
});

test('deleting the parent run deletes its planned runs', async () => {
  await push();
  const original = await createRun(server, application);
  await plan((content) => [createPlannedRun(0, content, { parentRunId: original as RunId })], false);
  await server.request('DELETE', `/v1/applications/${application}/runs/${original}`);
  expect(await countPlannedRuns(server.runningServer.database.read, application)).toEqual({
    waiting: 0,
    refused: 0,
  });
});

test('a planned run is queued, also on an instance with disabled queuing', async () => {
  await server.restart({ SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' });
  await push();
  await server.client.call('createVersion', {
    params: { application_id: application },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: application },
    body: {
      id: 'no-queue',
      name: 'No queue',
      version_id: 'v1',
      configuration: { queuing: { disabled: true, priority: 2 } },
    },
  });
  await plan((content) => [
    createPlannedRun(0, content, { instanceId: 'no-queue' }),
    createPlannedRun(1, content, { instanceId: 'no-queue', priority: 9 }),
  ]);
  await waitForStarts('runs-queued');
  const runs = await server.runningServer.database.read
    .selectFrom('runs')
    .select(['priority', 'queuing_disabled', 'status'])
    .where('experiment_uid', '=', `x-${application}`)
    .orderBy('priority')
    .execute();
  expect(runs).toEqual([
    { priority: 2, queuing_disabled: 0, status: 'queued' },
    { priority: 9, queuing_disabled: 0, status: 'queued' },
  ]);
});
