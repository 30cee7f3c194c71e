/** The predicted starts of a real queue, in the list of the queue and in the metadata of a run. */
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../../testing/database/multiply-rows.ts';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../../testing/fixtures/apps.ts';
import { expectStatus } from '../../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';

/** Runs until it is canceled. */
const ENDLESS_APP = {
  main: `#!/bin/sh
trap 'exit 0' TERM
echo started >&2
while :; do sleep 1 & wait $!; done
`,
};
const DURATION_MS = 100_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await pushApp(server, 'app', ENDLESS_APP, { executable_type: 'binary', runtime: 'native' });
});
afterAll(() => server.close());

const create = (instance = 'latest'): Promise<string> => createRun(server, 'app', { instance, input: {} });
async function startRun(instance?: string): Promise<string> {
  const run = await create(instance);
  await waitForLogLine(server, 'app', run, 'started');
  return run;
}
async function readQueue(): Promise<ActiveRun[]> {
  const response = await server.request('GET', '/v1/account/queue');
  expectStatus(response, 200);
  return (response.body as { runs: ActiveRun[] }).runs;
}

/** Lets the application have past runs that all took DURATION_MS. */
async function insertPastRuns(): Promise<void> {
  const run = await startRun();
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`), 204);
  await waitForRunEnd(server, 'app', run);
  await multiplyRows(server.runningServer.database, {
    table: 'runs',
    template: { column: 'id', value: run },
    count: 50,
    changes: {
      id: `'past-' || ${PADDED_ROW_NUMBER}`,
      initiated_at: 't.finished_at + n',
      finished_at: `t.finished_at + n + ${DURATION_MS}`,
    },
  });
}

test('are one duration apart after runs of equal durations, also with a licence, and absent when a quota holds a run', async () => {
  await insertPastRuns();
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: {
      ...{ id: 'new', name: 'Without past runs', version_id: 'v1' },
      configuration: { requirements: { licenses: { gurobi: 1 } } },
    },
  });
  await server.client.call('setLicenses', { body: { licenses: [{ name: 'gurobi', total: 1 }] } });
  await startRun('new');
  const waiting = [await create('new'), await create(), await create()];
  const [running, ...queued] = await readQueue();
  const start = Date.parse(running?.initiated_at ?? '');
  const expected = [1, 2, 3].map((position) => {
    const time = new Date(start + position * DURATION_MS).toISOString();
    return { earliest: time, latest: time };
  });
  expect(queued.map((run) => run.waiting?.predicted_start)).toEqual(expected);
  expect(queued.map((run) => run.waiting?.reason)).toEqual(['licenses_taken', 'slots_taken', 'slots_taken']);
  const last = { application_id: 'app', run_id: waiting[2] ?? '' };
  // A prediction that is younger than a second has the former places.
  await server.client.call('updateRun', { params: last, body: { queuing_priority: 1 } });
  const moved = (await readQueue()).slice(1);
  expect(moved.map(({ id }) => id)).toEqual([waiting[2], waiting[0], waiting[1]]);
  expect(moved[0]?.waiting?.predicted_start).toEqual(expected[0]);
  await server.client.call('updateRun', { params: last, body: { queuing_priority: 6 } });
  const params = { application_id: 'app', run_id: waiting[1] ?? '' };
  const { metadata } = (await server.client.call('getRunMetadata', { params })).body;
  expect(metadata.waiting?.predicted_start).toEqual(expected[1]);

  const body = { concurrent_runs: 1, core_hours_per_month: null };
  expectStatus(await server.request('PUT', '/v1/account/quotas', { body }), 200);
  const held = (await readQueue()).slice(1).map((run) => run.waiting);
  expect(held.map((reason) => reason?.reason)).toEqual(['quota', 'quota', 'quota']);
  for (const reason of held) expect(reason).not.toHaveProperty('predicted_start');
});
