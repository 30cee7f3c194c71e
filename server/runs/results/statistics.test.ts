/** Statistics: which are taken, which are refused and why, and the indicators made of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { parseStatistics } from './statistics-and-metrics.ts';

const sized = (bytes: number): object => {
  const around = { schema: 'v1', result: { custom: { text: '' } } };
  const text = 'x'.repeat(bytes - JSON.stringify(around).length);
  return { schema: 'v1', result: { custom: { text } } };
};

describe('a statistics block', () => {
  test.each([
    ['absent', undefined],
    ['null', null],
    ['empty, as the Python client leaves it', {}],
  ])('that is %s is none', (_what, block) => {
    expect(parseStatistics(block)).toEqual({ status: 'none', error: '', indicators: [], block: null });
  });

  test.each([
    ['no object', [1], 'statistics is not a JSON object'],
    ['text', 'v1', 'statistics is not a JSON object'],
    ['without schema', { result: { value: 1 } }, 'statistics.schema'],
    ['of another schema', { schema: 'v2', result: { value: 1 } }, 'statistics.schema is "v2"'],
    ['with a result that is none', { schema: 'v1', result: 5 }, 'statistics.result'],
    ['with a run that is none', { schema: 'v1', run: [] }, 'statistics.run'],
    ['of 10,001 bytes', sized(10_001), '10001 bytes'],
  ])('that is %s is an error', (_what, block, sentence) => {
    const read = parseStatistics(block);
    expect(read).toMatchObject({ status: 'error', indicators: [] });
    expect(read.error).toContain(sentence);
  });

  test('whose indicators are long because each repeats a long path is an error, and is kept itself', () => {
    const leaves = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, 1]));
    const block = (count: number) => ({ schema: 'v1', result: { ['k'.repeat(4000)]: leaves(count) } });
    expect(parseStatistics(block(10))).toMatchObject({ status: 'success' });
    const read = parseStatistics(block(500));
    expect(read).toMatchObject({ status: 'error', indicators: [], block: JSON.stringify(block(500)) });
    expect(read.error).toContain('65536');
  });

  test('of 10,000 bytes is taken', () => {
    expect(parseStatistics(sized(10_000))).toMatchObject({ status: 'success' });
  });

  test('gives every number, text and flag under result and run, by its path', () => {
    const read = parseStatistics({
      schema: 'v1',
      run: { duration: 0.5, iterations: 3, custom: { seed: 7 } },
      result: {
        value: 'nan',
        duration: '+inf',
        custom: { nested: { deep: -1.5 }, ok: false, none: null, list: [1, 2], name: 'x' },
      },
      series_data: { value: { name: 'v', data_points: [{ x: 1, y: 2 }] } },
    });
    expect(read).toMatchObject({ status: 'success', error: '' });
    expect(Object.fromEntries(read.indicators.map((one) => [one.name, one.value]))).toEqual({
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

describe('on a run', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await pushApp(server, 'app', nodeApp('(input) => input'));
  });
  afterAll(() => server.close());

  test('they are shown in lists and in full, with the block itself', async () => {
    const statistics = { schema: 'v1', result: { value: 1040.6, custom: { late: 2 } } };
    const metrics = { cost: { total: 5 } };
    const run = await createRunAndWait(server, 'app', { input: { statistics, metrics } });
    const shown = {
      status: 'success',
      error: '',
      indicators: [
        { name: 'result.value', value: 1040.6 },
        { name: 'result.custom.late', value: 2 },
        { name: 'cost.total', value: 5, source: 'metrics' },
      ],
    };
    expect(run.statistics).toEqual(shown);
    expect(run.metadata).toMatchObject({ statistics, metrics });
    const { body } = await server.client.call('listRuns', { params: { application_id: 'app' } });
    expect(body.runs.find((one) => one.id === run.id)?.statistics).toEqual(shown);
  });

  test('broken ones are an error of the statistics, not of the run', async () => {
    const run = await createRunAndWait(server, 'app', { input: { statistics: { schema: 'v9' } } });
    expect(run.status_v2).toBe('succeeded');
    expect(run.statistics).toMatchObject({ status: 'error', indicators: [] });
    const none = await createRunAndWait(server, 'app', { input: { a: 1 } });
    expect(none.statistics).toEqual({ status: 'none', error: '', indicators: [] });
    expect(none.metadata).not.toHaveProperty('statistics');
  });
});
