/** Lists of batch experiments and of their runs. */
import type {
  BatchExperiment,
  BatchExperimentInfo,
} from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
  waitForSubmission,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await createExperimentApplication(server, 'app', { plain: {} }, [{ size: 1 }]);
});
afterAll(() => server.close());

describe('a list', () => {
  const listIds = (items: unknown): string[] => (items as BatchExperimentInfo[]).map(({ id }) => id);

  test('is newest first, filters by type and time, and has pages that inserts do not change', async () => {
    await createExperimentApplication(server, 'listed', { plain: {} }, [{ size: 1 }]);
    const body = { input_set_id: 'sizes', instance_ids: ['plain'] };
    for (const id of ['a', 'b', 'c', 'd']) {
      const type = id === 'c' ? 'scenario' : undefined;
      await createBatchExperiment(server, 'listed', { ...body, id, type });
    }
    const list = async (query: string) => {
      const response = await server.request('GET', batchExperimentPath('listed', query));
      expectStatus(response, 200);
      return listIds(response.body);
    };
    expect(await list('')).toEqual(['d', 'c', 'b', 'a']);
    expect(await list('?type=batch')).toEqual(['d', 'b', 'a']);
    expect(await list('?type=scenario')).toEqual(['c']);
    expect(await list('?end=2020-01-01T00:00:00Z')).toEqual([]);
    expectError(
      await server.request(
        'GET',
        batchExperimentPath('listed', '?start=2026-01-01T00:00:00Z&end=2025-01-01T00:00:00Z'),
      ),
      400,
      'start is',
    );
    expectError(
      await server.request('GET', batchExperimentPath('listed', '?type=shadow')),
      400,
      'type is "shadow"',
    );
    const pages = await listAllPages(server, batchExperimentPath('listed'), 2, async (page) => {
      await createBatchExperiment(server, 'listed', { ...body, id: `late-${page}` });
    });
    expect(pages.flat()).toEqual(['d', 'c', 'b', 'a']);
    await Promise.all(
      ['a', 'b', 'c', 'd', 'late-1', 'late-2'].map((id) => waitForBatchEnd(server, 'listed', id)),
    );
  });

  test('is a 400 for an invalid limit and for a page token of another list', async () => {
    for (const limit of ['0', '51', '1.5', 'all'])
      expectError(
        await server.request('GET', batchExperimentPath('app', `?limit=${limit}`)),
        400,
        'limit is',
      );
    await createExperimentApplication(server, 'paged', { plain: {} }, [{ size: 1 }]);
    const body = { input_set_id: 'sizes', instance_ids: ['plain'] };
    for (const id of ['a', 'b'])
      await waitForBatchEnd(
        server,
        'paged',
        (await createBatchExperiment(server, 'paged', { ...body, id })).id,
      );
    const page = await server.request(
      'GET',
      batchExperimentPath('paged', '?type=batch&limit=1&pagereturn=true'),
    );
    const { next_page_token } = page.body as { next_page_token: string };
    const token = `pagereturn=true&pagetoken=${encodeURIComponent(next_page_token)}`;
    expectStatus(
      await server.request('GET', batchExperimentPath('paged', `?type=batch&limit=1&${token}`)),
      200,
    );
    for (const path of [
      batchExperimentPath('paged', `?${token}`),
      batchExperimentPath('paged', `?type=scenario&${token}`),
    ])
      expectError(await server.request('GET', path), 400, 'pagetoken');
    expectError(
      await server.request('GET', batchExperimentPath('app', `?type=batch&${token}`)),
      400,
      'pagetoken',
    );
    expectError(
      await server.request('GET', batchExperimentPath('paged', `/a/runs?${token}`)),
      400,
      'pagetoken',
    );
  });

  test('of more than a hundred runs is complete, in one response and in pages', async () => {
    await createExperimentApplication(server, 'many', { plain: {} }, [{ size: 1 }]);
    const body = { id: 'many', input_set_id: 'sizes', instance_ids: ['plain'], repetitions: 110 };
    await createBatchExperiment(server, 'many', body);
    await waitForBatchEnd(server, 'many', 'many');
    const response = await server.request('GET', batchExperimentPath('many', '/many/runs'));
    const listed = (response.body as { runs: ExperimentRun[] }).runs;
    expect(new Set(listed.map((run) => run.repetition)).size).toBe(110);
    expect(listed.map((run) => run.id)).toEqual(
      (await listAllPages(server, batchExperimentPath('many', '/many/runs'), 50)).flat(),
    );
  });
});

test('a batch of more than 1,000 runs returns the newest 1,000', async () => {
  await using idle = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  const [input = ''] = await createExperimentApplication(idle, 'app', { plain: {} }, [{ size: 1 }]);
  const slow = { waits: 'true' };
  // The first run occupies the only slot, so no run ends between the two requests.
  await createRun(idle, 'app', { instance: 'plain', input: { size: 1 }, body: { options: slow } });
  const body = { id: 'x', input_set_id: 'sizes', instance_ids: ['plain'], option_sets: { slow } };
  await createBatchExperiment(idle, 'app', { ...body, repetitions: 1001 });
  const requestBatch = (path: string) => idle.request('GET', batchExperimentPath('app', path));
  await waitForSubmission(idle, 'x');
  const { runs } = (await requestBatch('/x')).body as BatchExperiment;
  const all = ((await requestBatch('/x/runs')).body as { runs: ExperimentRun[] }).runs;
  expect(new Set(all.map((run) => run.repetition)).size).toBe(1001);
  expect(runs).toEqual(all.slice(0, 1000));
  expect(runs[0]).toMatchObject({ input_id: input, option_set: 'slow' });
  expectStatus(await idle.request('DELETE', batchExperimentPath('app', '/x')), 204);
});
