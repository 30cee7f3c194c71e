/** Valid and invalid statistics, and their indicators. */
import { parseStatistics } from '@switchyard/worker/results/statistics-and-metrics.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const createStatistics = (bytes: number): object => {
  const around = { schema: 'v1', result: { custom: { text: '' } } };
  const text = 'x'.repeat(bytes - JSON.stringify(around).length);
  return { schema: 'v1', result: { custom: { text } } };
};

describe('a statistics block', () => {
  test.each([
    ['absent', undefined],
    ['null', null],
    ['empty, as the Python client leaves it', {}],
  ])('that is %s has the status none', (_case, block) => {
    expect(parseStatistics(block)).toEqual({
      status: 'none',
      error: '',
      indicators: [],
      block: null,
    });
  });

  test.each([
    ['a list', [1], 'statistics is not a JSON object'],
    ['text', 'v1', 'statistics is not a JSON object'],
    ['an object without a schema', { result: { value: 1 } }, 'statistics.schema'],
    ['an object of another schema', { schema: 'v2', result: { value: 1 } }, 'statistics.schema is "v2"'],
    ['an object whose result is a number', { schema: 'v1', result: 5 }, 'statistics.result'],
    ['an object whose run is a list', { schema: 'v1', run: [] }, 'statistics.run'],
    ['an object of 10,001 bytes', createStatistics(10_001), '10001 bytes'],
  ])('that is %s has the status error', (_case, block, message) => {
    const parsed = parseStatistics(block);
    expect(parsed).toMatchObject({ status: 'error', indicators: [] });
    expect(parsed.error).toContain(message);
  });

  test('is stored with the status error when its indicators exceed their limit by long paths', () => {
    const leaves = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, 1]));
    const block = (count: number) => ({ schema: 'v1', result: { ['k'.repeat(4000)]: leaves(count) } });
    expect(parseStatistics(block(10))).toMatchObject({ status: 'success' });
    const parsed = parseStatistics(block(500));
    expect(parsed).toMatchObject({ status: 'error', indicators: [], block: JSON.stringify(block(500)) });
    expect(parsed.error).toContain('65536');
  });

  test('of 10,000 bytes is valid', () => {
    expect(parseStatistics(createStatistics(10_000))).toMatchObject({ status: 'success' });
  });

  test('has one indicator for every number, text and boolean below result and run, named by its path', () => {
    const parsed = parseStatistics({
      schema: 'v1',
      run: { duration: 0.5, iterations: 3, custom: { seed: 7 } },
      result: {
        value: 'nan',
        duration: '+inf',
        custom: { nested: { deep: -1.5 }, ok: false, none: null, list: [1, 2], name: 'x' },
      },
      series_data: { value: { name: 'v', data_points: [{ x: 1, y: 2 }] } },
    });
    expect(parsed).toMatchObject({ status: 'success', error: '' });
    expect(Object.fromEntries(parsed.indicators.map(({ name, value }) => [name, value]))).toEqual({
      'run.duration': 0.5,
      'run.iterations': 3,
      'run.custom.seed': 7,
      'result.value': 'nan',
      'result.duration': '+inf',
      'result.custom.nested.deep': -1.5,
      'result.custom.ok': false,
      'result.custom.name': 'x',
    });
  });
});

describe('the statistics of a run', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await pushApp(server, 'app', nodeApp('(input) => input'));
  });
  afterAll(() => server.close());

  test('are in lists and in the run itself, which has the block too', async () => {
    const statistics = { schema: 'v1', result: { value: 1040.6, custom: { late: 2 } } };
    const metrics = { cost: { total: 5 } };
    const run = await createRunAndWait(server, 'app', { input: { statistics, metrics } });
    const expected = {
      status: 'success',
      error: '',
      indicators: [
        { name: 'result.value', value: 1040.6 },
        { name: 'result.custom.late', value: 2 },
        { name: 'cost.total', value: 5, source: 'metrics' },
      ],
    };
    expect(run.statistics).toEqual(expected);
    expect(run.metadata).toMatchObject({ statistics, metrics });
    const { body } = await server.client.call('listRuns', { params: { application_id: 'app' } });
    expect(body.runs.find(({ id }) => id === run.id)?.statistics).toEqual(expected);
  });

  test('have the status error when they are invalid, and the run succeeds', async () => {
    const run = await createRunAndWait(server, 'app', { input: { statistics: { schema: 'v9' } } });
    expect(run.status_v2).toBe('succeeded');
    expect(run.statistics).toMatchObject({ status: 'error', indicators: [] });
    const withoutStatistics = await createRunAndWait(server, 'app', { input: { a: 1 } });
    expect(withoutStatistics.statistics).toEqual({ status: 'none', error: '', indicators: [] });
    expect(withoutStatistics.metadata).not.toHaveProperty('statistics');
  });
});
