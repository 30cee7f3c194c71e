/** The list of production runs, without the runs that experiments create. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, createRunAndWait } from '../../testing/fixtures/apps.ts';
import { createArithmeticEnsemble } from '../../testing/fixtures/batch-ensembles.ts';
import {
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, listAllPages } from '../../testing/fixtures/resources.ts';
import { pushCallingApp } from '../../testing/fixtures/workflows/calling-app.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const APP = 'app';
const path = `/v1/applications/${APP}/runs`;
let server: TestServer;
let production: string[];

beforeAll(async () => {
  server = await startTestServer();
  const inputs = await createExperimentApplication(server, APP, { bad: { fails: 'true' } });
  const { id } = await createBatchExperiment(server, APP, { input_set_id: 'sizes', instance_ids: ['bad'] });
  await waitForBatchEnd(server, APP, id);
  // Child runs have no experiment of their own.
  await createArithmeticEnsemble(server, 'pair', { low: {}, broken: { fails: 'true' } }, 'bad');
  const runs = [{ ensemble_id: 'pair' }];
  const ensemble = await createBatchExperiment(server, APP, { input_set_id: 'sizes', runs });
  await waitForBatchEnd(server, APP, ensemble.id);
  await pushCallingApp(server, 'flows', [APP]);
  const params = { application_id: 'flows' };
  const step = { method: 'POST', path, body: { input: { size: 5 }, name: 'Step' } };
  const body = { configuration: { run_type: { type: 'external' } } };
  const input = await createRun(server, 'flows', { input: { requests: [step] }, body });
  await server.client.call('createInputSet', {
    params,
    body: { id: 'steps', name: 'Steps', run_ids: [input] },
  });
  const flows = await createBatchExperiment(server, 'flows', {
    input_set_id: 'steps',
    instance_ids: ['flow'],
  });
  await waitForBatchEnd(server, 'flows', flows.id);
  const last = await createRunAndWait(server, APP, { input: { size: 4 } });
  production = [...inputs, last.id].toSorted();
});
afterAll(() => server.close());

test('W1: has the requested runs alone, by pages, also with a filter', async () => {
  expect((await listAllPages(server, path, 50)).flat()).toHaveLength(7 + 3 + 6 + 1);
  for (const query of ['?production=true', '?production=true&status=succeeded,failed']) {
    const pages = await listAllPages(server, `${path}${query}`, 2);
    expect(pages.flat().toSorted(), query).toEqual(production);
  }
  expect((await listAllPages(server, `${path}?production=true&status=failed`, 2)).flat()).toEqual([]);
});

test('W1: counts them by status, with the median of their execution times, also with a filter', async () => {
  const counts = `/v1/applications/${APP}/run-counts`;
  for (const query of ['?production=true', '?production=true&status=succeeded,failed']) {
    const { body } = await server.request('GET', `${counts}${query}`);
    expect(body, query).toMatchObject({ runs: production.length, is_complete: true });
    const { median_execution_duration } = body as { median_execution_duration: number };
    expect(median_execution_duration, query).toBeGreaterThan(0);
  }
  expect((await server.request('GET', `${counts}?production=true&status=failed`)).body).toMatchObject({
    runs: 0,
    median_execution_duration: null,
  });
  expect((await server.request('GET', counts)).body).toMatchObject({ runs: 7 + 3 + 6 + 1 });
});

test('W1: has the latest of each named application, with the version of its default instance', async () => {
  const update = { default_instance: 'bad' };
  await server.client.call('updateApplication', { params: { application_id: APP }, body: update });
  const summaries = async (ids: string) =>
    (await server.request('GET', `/v1/application-summaries?application_id=${ids}`)).body as {
      items: { application_id: string; version_id: string; runs: { id: string }[] }[];
    };
  const { items } = await summaries(`flows,none,${APP},flows`);
  expect(items.map((one) => [one.application_id, one.version_id])).toEqual([
    ['flows', ''],
    [APP, expect.stringMatching(/./)],
  ]);
  expect(items[1]?.runs.map(({ id }) => id).toSorted()).toEqual(production);
  const many = Array.from({ length: 51 }, (_, index) => `app-${index}`).join();
  expectError(
    await server.request('GET', `/v1/application-summaries?application_id=${many}`),
    400,
    'application_id',
  );
  const { token } = await createOtherAccount(server);
  const path = `/v1/application-summaries?application_id=${APP}`;
  expect((await server.request('GET', path, { token })).body).toEqual({ items: [] });
});

test('W1: a token of one list is refused by the other', async () => {
  const { body } = await server.request('GET', `${path}?production=true&pagereturn=true&limit=1`);
  const { next_page_token } = body as { next_page_token: string };
  const token = encodeURIComponent(next_page_token);
  expectError(
    await server.request('GET', `${path}?pagereturn=true&limit=1&pagetoken=${token}`),
    400,
    'pagetoken',
  );
  expectError(await server.request('GET', `${path}?production=yes`), 400, 'production');
});
