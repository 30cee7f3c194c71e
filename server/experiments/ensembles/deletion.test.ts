/** Deletion of ensemble runs. */
import { expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  createEnsembleApp,
  ensembleRunOptions,
  runGroup,
  scriptOptions,
} from '../../testing/fixtures/ensembles.ts';
import { startTestServer } from '../../testing/servers/test-server.ts';

test('the deletion of an ensemble run deletes its child runs and planned runs', async () => {
  await using server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=1' } });
  await createEnsembleApp(server, [runGroup('w', { waits: true }, { repetitions: 30 })]);
  const standard = await createRun(server, 'app', {
    input: {},
    body: { options: scriptOptions({ waits: true }) },
  });
  const early = await createRun(server, 'app', ensembleRunOptions());
  const run = await createRun(server, 'app', ensembleRunOptions());
  await Promise.all([early, run].map((id) => server.request('DELETE', `/v1/applications/app/runs/${id}`)));
  const { read } = server.runningServer.database;
  expect((await read.selectFrom('runs').select('id').execute()).map((row) => row.id)).toEqual([standard]);
  expect(await read.selectFrom('planned_runs').selectAll().execute()).toEqual([]);
  expect((await server.request('GET', `/v1/applications/app/runs/${run}/ensemble`)).status).toBe(404);
});
