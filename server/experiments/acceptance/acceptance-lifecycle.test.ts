/** Lifecycle of acceptance tests and their batches; acceptance-metrics.test.ts has their decisions, acceptance-deletion.test.ts their end. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  acceptanceCalls,
  acceptanceTestPath,
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  createInputSet,
  fetchAcceptanceTest,
  MEAN_METRIC,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { expectError, expectStatus, listAllPages, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/;
const INPUTS = [1, 3].map((candidate) => ({ control: candidate + 1, candidate }));
let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  application = await createAcceptanceApp(server);
});

const { call, create, waitForEnd, fetchRuns } = acceptanceCalls(() => ({ server, application }));
const listRuns = async (batch: string) => {
  const { body } = await call('GET', `batch/${batch}/runs`);
  return (body as { runs: { id: string; application_instance_id: string }[] }).runs;
};

describe('a test on an existing batch', () => {
  test('is returned by 201 as by GET, started and without results, and is decided once', async () => {
    const batch = await createBatchForTest(server, application, INPUTS);
    const response = await create({
      id: batch,
      experiment_id: batch,
      description: 'Described',
      metrics: [MEAN_METRIC],
    });
    expectStatus(response, 201);
    const created = {
      id: batch,
      app_id: application,
      name: 'Any name',
      description: 'Described',
      status: 'started',
      experiment_id: batch,
      control: { instance_id: 'control', version_id: '' },
      candidate: { instance_id: 'candidate', version_id: '' },
      metrics: [{ ...MEAN_METRIC, params: { operator: 'le', tolerance: { type: '', value: 0 } } }],
      rules_before_results: expect.any(Boolean),
      created_batch: false,
      tests_on_batch: 1,
      warnings: expect.any(Array),
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    };
    expect(response.body).toEqual(created);
    const test = await waitForEnd(batch);
    expect(test).toEqual({
      ...created,
      status: 'completed',
      decision: expect.objectContaining({ release: 'yes' }),
      question: expect.objectContaining({ changes: [] }),
      results: {
        passed: true,
        method: '2026-11.5',
        metric_results: [expect.objectContaining({ passed: true })],
        profiles: [expect.objectContaining({ indicator: 'result.value' })],
      },
    });
    expect(test.updated_at).toBe((response.body as AcceptanceTest).updated_at);
  });

  test('uses the batch with its own id by default, and shares a batch with other tests, even after its end', async () => {
    const batch = await createBatchForTest(server, application, INPUTS);
    const own = await createAcceptanceTest(server, application, { id: batch });
    expect(own.experiment_id).toBe(batch);
    await waitForEnd(batch);
    const worse = { ...MEAN_METRIC, params: { operator: 'gt' } };
    const other = await createAcceptanceTest(server, application, { experiment_id: batch, metrics: [worse] });
    expect(await waitForEnd(other.id)).toMatchObject({ status: 'completed', results: { passed: false } });
    expect((await fetchAcceptanceTest(server, application, batch)).results?.passed).toBe(true);
  });

  test('compares versions of one instance, and reports the version of each side', async () => {
    const params = { application_id: application };
    await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Version two' } });
    const input_set_id = await createInputSet(server, application, INPUTS);
    const runs = ['v1', 'v2'].map((version_id) => ({ instance_id: 'control', version_id }));
    const inputs = (await call('GET', `inputsets/${input_set_id}`)).body as { input_ids: string[] };
    const id = uniqueId('versions');
    expectStatus(
      await call('POST', 'batch', {
        id,
        name: 'Any name',
        input_set_id,
        runs: runs.flatMap((run) => inputs.input_ids.map((input_id) => ({ ...run, input_id }))),
      }),
      201,
    );
    const [control, candidate] = runs;
    expectError(await create({ id, control, candidate: control }), 400, 'candidate.instance_id is "control"');
    const wrong = { instance_id: 'control', version_id: 'v3' };
    expectError(await create({ id, control, candidate: wrong }), 400, 'candidate.version_id is "v3"', '"v1"');
    await createAcceptanceTest(server, application, { id, control, candidate });
    const test = await waitForEnd(id);
    const sides = test.results?.metric_results?.[0]?.statistics;
    expect(sides).toMatchObject({
      control: { version_id: 'v1', number_of_runs_total: 2 },
      candidate: { version_id: 'v2', number_of_runs_total: 2 },
    });
    expect(test.results?.passed).toBe(true);
  });

  test('has no results while a run is unfinished, and has them after its cancellation', async () => {
    const batch = await createBatchForTest(server, application, [
      ...INPUTS,
      { control: 9, candidate: 'hangs' },
    ]);
    await createAcceptanceTest(server, application, { id: batch });
    const unfinished = await server.waitUntil('runs-ended', async () => {
      const { body } = await call('GET', `batch/${batch}/metadata`);
      if ((body as { number_of_completed_runs: number }).number_of_completed_runs < 5) return null;
      const runs = await listRuns(batch);
      return runs.length === 6 ? runs : null;
    });
    const test = await fetchAcceptanceTest(server, application, batch);
    expect(test.status).toBe('started');
    expect(test).not.toHaveProperty('results');
    for (const { id } of unfinished)
      expectStatus(await server.request('PATCH', `/v1/applications/${application}/runs/${id}/cancel`), 204);
    const after = await waitForEnd(batch);
    expect(after).toMatchObject({ status: 'completed', results: { passed: false } });
    expect(after.results?.metric_results?.[0]?.statistics.candidate).toMatchObject({
      number_of_runs_total: 3,
      distribution_summary_statistics: { count: 2 },
    });
  });

  test('keeps its results when its runs are deleted', async () => {
    const batch = await createBatchForTest(server, application, INPUTS);
    await createAcceptanceTest(server, application, { id: batch });
    const before = await waitForEnd(batch);
    for (const { id } of await listRuns(batch))
      expectStatus(await server.request('DELETE', `/v1/applications/${application}/runs/${id}`), 204);
    await server.restart();
    expect(await fetchAcceptanceTest(server, application, batch)).toEqual(before);
    // Without runs, another test has no sides to compare.
    expectError(await create({ id: 'late', experiment_id: batch }), 400, 'control.instance_id', 'none');
  });

  test('is decided after a restart of the server', async () => {
    const batch = await createBatchForTest(server, application, INPUTS, { repetitions: 4 });
    await createAcceptanceTest(server, application, { id: batch });
    await server.restart();
    const test = await waitForEnd(batch);
    expect(test.results?.metric_results?.[0]?.statistics.candidate.number_of_runs_total).toBe(8);
  });

  test('400 for an unknown batch, and for a batch without both sides', async () => {
    const other = await createAcceptanceApp(server);
    const foreign = await createBatchForTest(server, other, INPUTS);
    expectError(await create({ id: 'none' }), 400, 'experiment_id is "none"', 'input_set_id');
    expectError(await create({ experiment_id: foreign }), 400, `experiment_id is "${foreign}"`);
    const id = await createBatchForTest(server, application, INPUTS, { type: 'scenario' });
    expectError(await create({ id }), 400, `experiment_id is "${id}"`, 'scenario');
    const one = await createBatchForTest(server, application, INPUTS, { instance_ids: ['control'] });
    expectError(await create({ id: one }), 400, 'candidate.instance_id is "candidate"', '"control"');
    const there = await createBatchForTest(server, application, INPUTS);
    expectError(await create({ id: there, input_set_id: 'peaks' }), 400, 'input_set_id is "peaks"', there);
    expectError(await create({ id: there, repetitions: 2 }), 400, 'repetitions is 2');
  });
});

describe('a test that creates its batch', () => {
  test('runs both sides on every input for each repetition, in a batch with its name and id', async () => {
    const input_set_id = await createInputSet(server, application, INPUTS);
    const test = await createAcceptanceTest(server, application, {
      id: 'both',
      input_set_id,
      repetitions: 3,
    });
    expect(test).toMatchObject({ id: 'both', experiment_id: 'both', status: 'started' });
    const after = await waitForEnd('both');
    expect(after.results?.passed).toBe(true);
    const runs = await listRuns('both');
    expect(runs).toHaveLength(2 * 2 * 3);
    expect((await call('GET', 'batch/both')).body).toMatchObject({
      name: 'Any name',
      type: 'batch',
      status: 'completed',
      input_set_id,
      number_of_requested_runs: 12,
    });
    expect((await call('GET', 'batch')).body).toHaveLength(1);
  });

  test('accepts versions, and another id for the batch', async () => {
    const input_set_id = await createInputSet(server, application, INPUTS);
    const params = { application_id: application };
    await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Version two' } });
    const created = await createAcceptanceTest(server, application, {
      experiment_id: 'another',
      input_set_id,
      repetitions: 2,
      candidate: { instance_id: 'candidate', version_id: 'v2' },
    });
    expect(created.candidate).toEqual({ instance_id: 'candidate', version_id: 'v2' });
    const test = await waitForEnd(created.id);
    expect(test.results?.metric_results?.[0]?.statistics).toMatchObject({
      control: { version_id: 'v1', number_of_runs_total: 4 },
      candidate: { version_id: 'v2', number_of_runs_total: 4 },
    });
    expect(await listRuns('another')).toHaveLength(8);
  });

  test('400 names the invalid field, and creates nothing', async () => {
    const input_set_id = await createInputSet(server, application, INPUTS);
    for (const [body, ...messageParts] of [
      [{ input_set_id: 'missing' }, 'input_set_id is "missing"'],
      [{ input_set_id, control: { instance_id: 'x' } }, 'control.instance_id is "x"', 'an instance'],
      [
        { input_set_id, candidate: { instance_id: 'candidate', version_id: 'x' } },
        'candidate.version_id is "x"',
        'a version',
      ],
      [{ input_set_id, repetitions: 0 }, 'repetitions'],
      [{ input_set_id, repetitions: 10_000 }, '10000'],
      [{ input_set_id, experiment_id: 'Not an id' }, 'experiment_id is "Not an id"', 'lowercase'],
      [{ repetitions: 2 }, 'input_set_id'],
    ] as const)
      expectError(await create({ id: 'nothing', ...body }), 400, ...messageParts);
    expect((await call('GET', 'batch')).body).toEqual([]);
    expect((await call('GET', 'acceptance')).body).toEqual([]);
    expect((await fetchRuns()).runs).toEqual([]);
  });

  test('is created once for an Idempotency-Key, and once by two concurrent requests with one id', async () => {
    const input_set_id = await createInputSet(server, application, INPUTS);
    const body = {
      name: 'Any name',
      control: { instance_id: 'control' },
      candidate: { instance_id: 'candidate' },
      metrics: [MEAN_METRIC],
      input_set_id,
    };
    const send = (id: string | undefined, key: string) =>
      server.request('POST', acceptanceTestPath(application), {
        body: { ...body, id },
        headers: { 'idempotency-key': `${application}-${key}` },
      });
    const [first, second] = [await send(undefined, 'a'), await send(undefined, 'a')];
    expectStatus(first, 201);
    expect(second.text).toBe(first.text);
    const both = await Promise.all([send('same', 'b'), send('same', 'c')]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await call('GET', 'acceptance')).body).toHaveLength(2);
    expect((await call('GET', 'batch')).body).toHaveLength(2);
    for (let round = 0; round < 5; round += 1) {
      const again = await Promise.all([0, 1, 2].map(() => send(`twice-${round}`, `round-${round}`)));
      expect(new Set(again.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expectStatus(again[0] ?? first, 201);
    }
    await waitForEnd('same');
    expect(await listRuns('same')).toHaveLength(4);
  });
});

describe('list and update', () => {
  test('lists are newest first, show only whether each test passed, and have pages', async () => {
    const batch = await createBatchForTest(server, application, INPUTS);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1)
      ids.unshift((await createAcceptanceTest(server, application, { experiment_id: batch })).id);
    for (const id of ids) await waitForEnd(id);
    const listed = (await call('GET', 'acceptance')).body as AcceptanceTest[];
    expect(listed.map(({ id }) => id)).toEqual(ids);
    for (const test of listed) {
      const {
        results,
        decision: _,
        question: _q,
        ...rest
      } = await fetchAcceptanceTest(server, application, test.id);
      expect(test).toEqual({ ...rest, results: { passed: results?.passed, method: results?.method } });
    }
    const pages = await listAllPages(server, acceptanceTestPath(application), 2);
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });

  test('PATCH changes only name and description, and returns the test', async () => {
    const id = await createBatchForTest(server, application, INPUTS);
    await createAcceptanceTest(server, application, { id, description: 'Described' });
    const before = await waitForEnd(id);
    const change = async (body: object) => {
      const response = await call('PATCH', `acceptance/${id}`, body);
      expectStatus(response, 200);
      return response.body;
    };
    const renamed = await change({ ...before, name: 'Renamed', status: 'draft', results: null });
    expect(renamed).toEqual({ ...before, name: 'Renamed', updated_at: expect.stringMatching(TIMESTAMP) });
    expect(await change({ name: null, description: '' })).toMatchObject({ name: 'Renamed', description: '' });
    expect((await call('GET', `batch/${id}`)).body).toMatchObject({ name: 'Any name' });
    for (const invalid of [{ name: 'ab' }, { description: 'x'.repeat(129) }, { metrics: [] }])
      expectError(await call('PATCH', `acceptance/${id}`, invalid), 400, ...Object.keys(invalid));
    expectError(await call('PATCH', 'acceptance/missing', { name: 'Renamed' }), 404, 'missing');
  });

  test('404 for another account, and for an unknown test', async () => {
    const id = await createBatchForTest(server, application, INPUTS);
    await createAcceptanceTest(server, application, { id });
    const { token } = await createOtherAccount(server);
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', `/${id}`],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const)
      expectError(
        await server.request(method, acceptanceTestPath(application, rest), {
          token,
          ...(method === 'PATCH' ? { body: {} } : {}),
        }),
        404,
      );
    for (const hostileId of ['missing', '%00', '../x', 'x'.repeat(300)])
      expectError(await call('GET', `acceptance/${encodeURIComponent(hostileId)}`), 404);
  });
});

test('a shadow test is not accepted as the batch, and runs of other instances count for neither side', async () => {
  const sides = { baseline_instance_id: 'control', candidate_instance_id: 'candidate' };
  const draft = { id: 'copies', name: 'Copies', comparison: sides, termination_events: { maximum_runs: 1 } };
  expectStatus(await call('POST', 'shadow', draft), 201);
  expectError(await create({ experiment_id: 'copies' }), 400, 'experiment_id is "copies"', 'no batch');
  const batch = await createBatchForTest(server, application, [{ control: 2, candidate: 'hangs' }]);
  await createAcceptanceTest(server, application, { id: batch, experiment_id: batch });
  const path = `/v1/applications/${application}/runs`;
  const body = { input: { control: 1 }, options: { side: 'control' }, batch_experiment_id: batch };
  const joined = await server.request('POST', `${path}?instance_id=latest`, { body });
  expectStatus(joined, 202);
  const unfinished = (await listRuns(batch)).find((run) => run.application_instance_id === 'candidate');
  expectStatus(await server.request('PATCH', `${path}/${unfinished?.id}/cancel`), 204);
  const { statistics } = (await waitForEnd(batch)).results?.metric_results?.[0] ?? {};
  expect([statistics?.control.number_of_runs_total, statistics?.candidate.number_of_runs_total]).toEqual([
    1, 1,
  ]);
  expect(statistics?.control.distribution_summary_statistics).toMatchObject({ count: 1, mean: 2 });
  expect(statistics?.candidate.distribution_summary_statistics).toMatchObject({ count: 0 });
  expect(await listRuns(batch)).toHaveLength(3);
});
