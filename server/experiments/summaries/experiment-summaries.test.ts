/** The list of the experiments of all types, and its verdicts. */
import type { ExperimentSummary } from '@switchyard/contract/experiments/experiment-summaries.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

/** The candidate is 3 % to 5 % lower on each input. */
const INPUTS = Array.from({ length: 12 }, (_, n) => ({ control: 100 + n, candidate: 96 + n + n / 20 }));
const path = (query = '') => `/v1/applications/${application}/experiment-summaries${query}`;
const list = async (query = ''): Promise<ExperimentSummary[]> => {
  const response = await server.request('GET', path(`?pagereturn=true${query}`));
  expectStatus(response, 200);
  return (response.body as { items: ExperimentSummary[] }).items;
};

describe('the list', () => {
  beforeAll(async () => {
    const input_set_id = await createInputSet(server, application, INPUTS);
    const objectives = { 'result.value': 'minimize' };
    const create = (id: string, body: object) =>
      createBatchExperiment(server, application, { id, input_set_id, objectives, ...body });
    await create('backward', { instance_ids: ['candidate', 'control'] });
    await create('several', {
      type: 'scenario',
      instance_ids: ['control'],
      option_sets: { plain: {}, lower: { side: 'candidate' }, higher: { side: 'control' } },
    });
    for (const id of ['backward', 'several']) await waitForBatchEnd(server, application, id);
    await createAcceptanceTest(server, application, { id: 'ready', input_set_id });
    await waitForDecision(server, application, 'ready');
    await server.client.call('createShadowTest', {
      params: { application_id: application as never },
      body: {
        id: 'drafted' as never,
        name: 'Drafted',
        comparison: { baseline_instance_id: 'control', candidate_instance_id: 'candidate' },
        termination_events: { maximum_runs: 5 },
      },
    });
  });

  test('has all types newest first, with progress and verdicts; an acceptance test stands for its batch', async () => {
    const ended = { number_of_failed_runs: 0, status: 'completed' };
    const listed = [
      { type: 'shadow', id: 'drafted', status: 'draft', number_of_runs: 0 },
      {
        ...ended,
        type: 'acceptance',
        id: 'ready',
        number_of_completed_runs: 24,
        verdict: { word: 'accepted' },
      },
      {
        ...{ ...ended, type: 'scenario', id: 'several', number_of_runs: 36 },
        verdict: { word: 'best', candidate: 'lower' },
      },
      { ...ended, type: 'batch', id: 'backward', number_of_completed_runs: 24, verdict: { word: 'worse' } },
    ];
    expect(await list()).toMatchObject(listed);
    // The first request has stored the verdicts.
    const again = await list();
    expect(again).toMatchObject(listed);
    expect(again[0]).not.toHaveProperty('verdict');
    expect((await listAllPages(server, path(), 1)).flat()).toEqual(listed.map(({ id }) => id));
    expect((await listAllPages(server, path(), 3)).flat()).toEqual(listed.map(({ id }) => id));
  });

  test('filters by type and status', async () => {
    const listIds = async (query: string) => (await list(query)).map(({ type, id }) => `${type} ${id}`);
    expect(await listIds('&type=batch')).toEqual(['batch ready', 'batch backward']);
    expect(await listIds('&type=scenario')).toEqual(['scenario several']);
    expect(await listIds('&type=acceptance')).toEqual(['acceptance ready']);
    expect(await listIds('&status=draft')).toEqual(['shadow drafted']);
    expect(await listIds('&status=canceled')).toEqual([]);
    expect(await listIds('&status=completed&type=bisect')).toEqual([]);
  });

  test('follows results that a server without verdicts writes', async () => {
    const { database } = server.runningServer;
    const find = async () => (await list('&type=batch')).find(({ id }) => id === 'backward')?.verdict;
    const readRow = () =>
      database.read
        .selectFrom('experiments')
        .innerJoin('experiment_results', 'experiment_uid', 'uid')
        .select(['uid', 'definition', 'results'])
        .where('id', '=', 'backward' as never)
        .executeTakeFirstOrThrow();
    const before = await readRow();
    expect(await find()).toEqual({ word: 'worse' });
    await createAcceptanceTest(server, application, { id: 'on-backward', experiment_id: 'backward' });
    expect(await find()).toEqual({ word: 'better' });
    // It keeps the verdict column as it is.
    await database.transact(async (tx) => {
      const { uid, definition, results } = before;
      await tx.updateTable('experiments').set({ definition }).where('uid', '=', uid).execute();
      await tx.updateTable('experiment_results').set({ results }).where('experiment_uid', '=', uid).execute();
    });
    expect(await find()).toEqual({ word: 'worse' });
  });

  test('has experiments of two types with the same id and time, also on pages between them', async () => {
    const comparison = { baseline_instance_id: 'control', candidate_instance_id: 'candidate' };
    for (const [type, rest] of [
      ['shadow', { termination_events: { maximum_runs: 5 } }],
      ['switchback', { generate_random_plan: { unit_duration_minutes: 60, units: 10 } }],
    ] as const) {
      const body = { id: 'twin', name: 'Twin', comparison, ...rest };
      const twins = `/v1/applications/${application}/experiments/${type}`;
      expectStatus(await server.request('POST', twins, { body }), 201);
    }
    await server.runningServer.database.transact((tx) =>
      tx
        .updateTable('experiments')
        .set({ created_at: Date.now() })
        .where('id', '=', 'twin' as never)
        .execute(),
    );
    const whole = (await list()).map(({ id }) => id);
    expect(whole.filter((id) => id === 'twin')).toHaveLength(2);
    for (const size of [1, 2]) expect((await listAllPages(server, path(), size)).flat()).toEqual(whole);
  });

  test('is a 400 for a wrong filter or limit and the token of other filters, and a 404 for another account', async () => {
    for (const [query, words] of [
      ['?type=abtest', 'type is'],
      ['?status=ended', 'status is'],
      ['?limit=51', 'limit is'],
    ] as const)
      expectError(await server.request('GET', path(query)), 400, words);
    const { body } = await server.request('GET', path('?pagereturn=true&limit=1'));
    const token = encodeURIComponent((body as { next_page_token: string }).next_page_token);
    expectError(await server.request('GET', path(`?type=batch&pagetoken=${token}`)), 400, 'pagetoken is');
    const { token: other } = await createOtherAccount(server);
    expectError(await server.request('GET', path(), { token: other }), 404, application);
  });
});
