/** Deletion of acceptance tests and of their batches. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  acceptanceCalls,
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  createInputSet,
} from '../../testing/fixtures/acceptance-tests.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

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

test('DELETE deletes a batch that the test created, even while it runs, and frees both ids', async () => {
  const hanging = [...INPUTS, { control: 'hangs', candidate: 1 }];
  const id = uniqueId('both');
  const input_set_id = await createInputSet(server, application, hanging);
  expect(await createAcceptanceTest(server, application, { id, input_set_id })).toMatchObject({
    created_batch: true,
  });
  expectStatus(await call('DELETE', `acceptance/${id}`), 204);
  expectError(await call('GET', `acceptance/${id}`), 404);
  expectError(await call('DELETE', `acceptance/${id}`), 404);
  expectError(await call('GET', `batch/${id}`), 404);
  await expect.poll(fetchRuns).toMatchObject({ runs: [] });
  const again = { id, input_set_id: await createInputSet(server, application, INPUTS) };
  await createAcceptanceTest(server, application, again);
  expect((await waitForEnd(id)).results?.passed).toBe(true);
});

test('T10: deleting the last test leaves a batch that was created by itself, with its runs', async () => {
  const batch = await createBatchForTest(server, application, INPUTS);
  // The default of experiment_id is the id of the test, so this test looks as if it had created the batch.
  await createAcceptanceTest(server, application, { id: batch });
  const other = await createAcceptanceTest(server, application, { experiment_id: batch });
  await waitForEnd(batch);
  for (const id of [other.id, batch]) {
    expectStatus(await call('DELETE', `acceptance/${id}`), 204);
    expectStatus(await call('GET', `batch/${batch}`), 200);
  }
  expect((await call('GET', 'acceptance')).body).toEqual([]);
  expect((await fetchRuns()).runs).toHaveLength(4);
  // Nobody has lost the runs: another test decides on them.
  await createAcceptanceTest(server, application, { id: batch });
  expect((await waitForEnd(batch)).results?.passed).toBe(true);
});

test('T10: a batch that a test created stays while another test compares its runs, and afterwards', async () => {
  const input_set_id = await createInputSet(server, application, INPUTS);
  const first = await createAcceptanceTest(server, application, { input_set_id });
  const second = await createAcceptanceTest(server, application, { experiment_id: first.id });
  for (const { id } of [first, second]) {
    expectStatus(await call('DELETE', `acceptance/${id}`), 204);
    expectStatus(await call('GET', `batch/${first.id}`), 200);
  }
});

test('deleting the batch deletes its tests', async () => {
  const next = await createBatchForTest(server, application, INPUTS);
  for (let n = 0; n < 2; n += 1) await createAcceptanceTest(server, application, { experiment_id: next });
  expectStatus(await call('DELETE', `batch/${next}`), 204);
  expect((await call('GET', 'acceptance')).body).toEqual([]);
});

test('concurrent requests leave no test without its batch', async () => {
  for (let round = 0; round < 5; round += 1) {
    const input_set_id = await createInputSet(server, application, INPUTS);
    const { id: batch } = await createAcceptanceTest(server, application, { input_set_id });
    const [second] = await Promise.all([
      create({ id: 'second', experiment_id: batch }),
      call('DELETE', `acceptance/${batch}`),
    ]);
    expect([201, 400], second.text).toContain(second.status);
    const left = second.status === 201 ? 200 : 404;
    expectStatus(await call('GET', 'acceptance/second'), left);
    expectStatus(await call('GET', `batch/${batch}`), left);
    await call('DELETE', 'acceptance/second');
    const next = await createBatchForTest(server, application, INPUTS);
    const [created] = await Promise.all([create({ id: next }), call('DELETE', `batch/${next}`)]);
    expect([201, 400], created.text).toContain(created.status);
    expectError(await call('GET', `acceptance/${next}`), 404);
  }
});
