/** Valid and invalid metrics, their indicators, and their use in experiments and ensembles. */
import type { RunMetrics } from '@switchyard/contract/runs/run-reports.ts';
import { NO_MASK } from '@switchyard/worker/log/mask.ts';
import { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import {
  mergeReports,
  parseMetrics,
  parseStatistics,
} from '@switchyard/worker/results/statistics-and-metrics.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitForDecision } from '../../testing/fixtures/acceptance-tests.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  packFiles,
  pushApp,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { findIndicator } from './indicators.ts';

const listValues = (indicators: readonly { name: string; value: unknown }[]) =>
  indicators.map(({ name, value }) => [name, value]);
const nest = (levels: number): unknown => (levels === 1 ? { x: 1 } : { x: nest(levels - 1) });

describe('B2: a metrics block', () => {
  test.each([
    [
      'top-level numbers',
      { total_cost: 12.5, 'mip-gap': 0 },
      [
        ['total_cost', 12.5],
        ['mip-gap', 0],
      ],
    ],
    [
      'paths',
      { result: { value: 1, deep: { er: -2 } } },
      [
        ['result.value', 1],
        ['result.deep.er', -2],
      ],
    ],
    [
      'texts and flags',
      { status: 'optimal', gap: 'nan', ok: false },
      [
        ['status', 'optimal'],
        ['gap', 'nan'],
        ['ok', false],
      ],
    ],
    ['all but lists and nulls', { list: [1, { a: 2 }], none: null, n: 3 }, [['n', 3]]],
    ['dots in keys, the last of one name', { a: { b: 1 }, 'a.b': 2 }, [['a.b', 2]]],
    [
      'names of prototypes',
      JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}'),
      [
        ['__proto__.x', 1],
        ['constructor', 2],
        ['toString', 3],
      ],
    ],
    ['all but an empty name', { '': 1, a: { '': 2 } }, [['a.', 2]]],
    ['text that every database can store', { a: 'x\0\ud800' }, [['a', 'x\u{fffd}\u{fffd}']]],
    ['64 levels', nest(64), [[Array(64).fill('x').join('.'), 1]]],
  ])('has indicators for %s', (_case, metrics, expected) => {
    const read = parseMetrics(metrics);
    expect(read).toMatchObject({ error: '', block: JSON.stringify(metrics) });
    expect(listValues(read.indicators)).toEqual(expected);
  });

  test.each([
    ['absent', undefined, null],
    ['null', null, null],
    ['empty', {}, '{}'],
  ])('that is %s has no indicators and no error', (_case, metrics, block) => {
    expect(parseMetrics(metrics)).toEqual({ error: null, indicators: [], block });
  });

  test.each([
    ['a list', [{ cost: 1 }], 'metrics is not a JSON object', false],
    ['a number', 5, 'metrics is not a JSON object', false],
    ['65 levels deep', nest(65), 'deeper than 64 levels', false],
    [
      'an object with a number above the largest',
      { cost: Number.POSITIVE_INFINITY },
      'metrics.cost is a number too large',
      true,
    ],
    ['longer than the limit of the block', { text: 'x'.repeat(1024 * 1024) }, '1048576 characters', false],
    [
      'an object with a text longer than the limit of all indicators',
      { text: 'x'.repeat(65_537), cost: 1 },
      'more than 65536 characters',
      true,
    ],
    [
      'an object with a long key above many numbers',
      { ['k'.repeat(500_000)]: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`v${n}`, n])) },
      'more than 65536 characters',
      true,
    ],
  ])('that is %s has an error and no indicators', (_case, metrics, message, isStored) => {
    const read = parseMetrics(metrics);
    expect(read.indicators).toEqual([]);
    expect(read.error).toContain(message);
    expect(read.block !== null).toBe(isStored);
  });

  const V1 = { schema: 'v1', result: { value: 1 } };
  const statisticsOnly = [['result.value', 1, undefined]];
  test.each([
    ['metrics alone', { metrics: { cost: 2 } }, 'success', [['cost', 2, 'metrics']]],
    [
      'an empty block of statistics',
      { statistics: {}, metrics: { cost: 2 } },
      'success',
      [['cost', 2, 'metrics']],
    ],
    [
      'both',
      { statistics: V1, metrics: { cost: 2 } },
      'success',
      [...statisticsOnly, ['cost', 2, 'metrics']],
    ],
    ['one name in both', { statistics: V1, metrics: { result: { value: 2 } } }, 'success', statisticsOnly],
    [
      'invalid statistics',
      { statistics: { schema: 'v9' }, metrics: { cost: 2 } },
      'error',
      [['cost', 2, 'metrics']],
    ],
    ['statistics and invalid metrics', { statistics: V1, metrics: [] }, 'success', statisticsOnly],
    ['invalid metrics', { metrics: [] }, 'error', []],
    ['metrics without an indicator', { metrics: { list: [1] } }, 'success', []],
    ['neither', { metrics: {} }, 'none', []],
  ])('merges status and sources of %s', (_case, output: Record<string, unknown>, status, expected) => {
    const { statistics } = mergeReports(parseStatistics(output.statistics), parseMetrics(output.metrics));
    expect(statistics.status).toBe(status);
    expect(statistics.error === '').toBe(status !== 'error');
    expect(statistics.indicators.map(({ name, value, source }) => [name, value, source])).toEqual(expected);
  });

  test('is left out of the indicators when both blocks together exceed their limit', () => {
    const text = (name: string, length: number) => ({ [name]: 'x'.repeat(length) });
    const statistics = parseStatistics({ schema: 'v1', result: text('a', 9000) });
    const merged = mergeReports(statistics, parseMetrics(text('b', 60_000)));
    expect(merged.metricsError).toContain('65536');
    expect(merged.statistics).toMatchObject({ status: 'success', error: '' });
    expect(merged.statistics.indicators.map(({ name }) => name)).toEqual(['result.a']);
  });
});

test.each([
  ['total_cost', 5],
  ['$.total_cost', 5],
  ['metrics.total_cost', 5],
  ['$.metrics.total_cost', 5],
  ['custom.x', 6],
  ['metrics.custom.x', 6],
  ['result.value', 7],
  ['$.statistics.result.value', 7],
  ['metrics.own', 8],
  ['value', undefined],
  ['total_cost.metrics', undefined],
  ['', undefined],
])('B2: the path %j selects the indicator %j', (path, value) => {
  const reports = new Map([
    ['total_cost', 5],
    ['custom.x', 6],
    ['result.value', 7],
    ['metrics.own', 8],
    ['own', 9],
  ]);
  expect(findIndicator(reports, path)).toBe(value);
});

test.each(['output', 'metrics'] as const)(
  'B2: the reader thread reads the metrics of a large file of %s',
  async (kind) => {
    const read = (text: string) => {
      const content = Buffer.from(text);
      const file = { bytes: content.length, load: async () => Buffer.from(content) };
      return new JsonReader().read(file, { kind, subject: null }, NO_MASK);
    };
    const fill = `"fill":"${'x'.repeat(1024 * 1024)}"`;
    const space = ' '.repeat(9 * 1024 * 1024);
    const { metrics } = await read(`{${fill},"metrics":{"a":{"b":7}}}`);
    expect(listValues(metrics.indicators)).toEqual([['a.b', 7]]);
    const long = await read(`{"metrics":{${space}"a":1}}`);
    expect(long.metrics).toMatchObject({
      indicators: [],
      block: null,
      error: expect.stringContaining('bytes'),
    });
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    expect((await read(`{${fill},"metrics":${deep}}`)).metrics.error).toContain('deeper than 64 levels');
  },
);

describe('B2: metrics of a run', () => {
  let server: TestServer;
  let run_ids: string[];
  const params = { application_id: 'app' };
  beforeAll(async () => {
    server = await startTestServer();
    await pushApp(
      server,
      'app',
      nodeApp(
        '(input, options) => ({ metrics: { total_cost: input.cost - Number(options.less ?? 0), constructor: 1 }, ...input.output })',
      ),
    );
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
    for (const [id, options] of [
      ['baseline', {}],
      ['candidate', { less: '5' }],
    ] as const)
      await server.client.call('createInstance', {
        params,
        body: { id, name: id, version_id: 'v1', configuration: { options } },
      });
    const runs = await Promise.all(
      [10, 20, 30].map((cost) => createRunAndWait(server, 'app', { input: { cost } })),
    );
    run_ids = runs.map((run) => run.id);
    await server.client.call('createInputSet', { params, body: { id: 'set', name: 'Set', run_ids } });
  });
  afterAll(() => server.close());

  const indicators = [
    { name: 'total_cost', value: 10, source: 'metrics' },
    { name: 'constructor', value: 1, source: 'metrics' },
  ];
  const metrics = { status: 'success', error: '', indicators };

  test('are indicators with their source, in lists and in the run itself', async () => {
    const run = await waitForRunEnd(server, 'app', run_ids[0] ?? '');
    expect(run).toMatchObject({ statistics: metrics, metrics, metadata: { metrics: { total_cost: 10 } } });
    const { body } = await server.client.call('listRuns', { params });
    expect(body.runs.find(({ id }) => id === run.id)).toMatchObject({ statistics: metrics, metrics });
  });

  test('have the status error when they are invalid, next to valid statistics', async () => {
    const output = { statistics: { schema: 'v1', result: { value: 3 } }, metrics: [1] };
    const run = await createRunAndWait(server, 'app', { input: { cost: 1, output } });
    expect(run.statistics).toEqual({
      status: 'success',
      error: '',
      indicators: [{ name: 'result.value', value: 3 }],
    });
    expect(run.metrics).toEqual({ status: 'error', error: 'metrics is not a JSON object.', indicators: [] });
    const none = await createRunAndWait(server, 'app', { input: { cost: 1, output: { metrics: {} } } });
    expect(none.statistics).toEqual({ status: 'none', error: '', indicators: [] });
    expect(none).not.toHaveProperty('metrics');
  });

  test.each([
    ['outputs/metrics/metrics.json', {}],
    ['outputs/metrics.json', {}],
    ['configured/m.json', { metrics_path: 'configured/m.json' }],
  ])('of a multi-file app are read from %s', async (path, output_configuration) => {
    await pushApp(
      server,
      'files',
      {
        'main.mjs': `import { writeFileSync } from 'node:fs'; writeFileSync('${path}', '{"metrics": {"cost": 4}}');`,
      },
      { io_configuration: { format: 'multi-file', multi_file: { output_configuration } } },
    );
    const upload_id = await uploadContent(server, 'files', await packFiles({ a: 'a' }));
    const run = await waitForRunEnd(
      server,
      'files',
      await createRun(server, 'files', { body: { upload_id } }),
    );
    expect(listValues((run.metrics as RunMetrics).indicators)).toEqual([['cost', 4]]);
  });

  test('of an external run are read from their upload and from its output', async () => {
    const upload = (value: unknown) => uploadContent(server, 'app', JSON.stringify(value));
    for (const result of [
      { metrics_upload_id: await upload({ cost: 4 }) },
      { metrics_upload_id: await upload({ metrics: { cost: 4 } }) },
      { output_upload_id: await upload({ metrics: { cost: 4 } }) },
    ]) {
      const run = await waitForRunEnd(
        server,
        'app',
        await createRun(server, 'app', { body: { input: {}, result } }),
      );
      expect(listValues(run.statistics.indicators)).toEqual([['cost', 4]]);
    }
  });

  test('are compared by a batch experiment, whose objectives may be paths', async () => {
    await createBatchExperiment(server, 'app', {
      id: 'batch',
      input_set_id: 'set',
      instance_ids: ['baseline', 'candidate'],
      objectives: { 'metrics.total_cost': 'maximize' },
    });
    const { comparisons } = await waitForBatchEnd(server, 'app', 'batch');
    const compared = comparisons?.[0]?.indicators ?? [];
    expect(
      compared.map(({ indicator, objective, mean_difference }) => [
        indicator,
        objective,
        mean_difference?.value,
      ]),
    ).toEqual([
      ['total_cost', 'maximize', -5],
      ['constructor', 'none', 0],
    ]);
  });

  test.each(['total_cost', '$.metrics.total_cost'])('decide an acceptance test on %s', async (field) => {
    const id = field === 'total_cost' ? 'plain' : 'path';
    const params = { operator: 'lt', tolerance: { type: 'absolute', value: 0 } };
    const body = {
      id,
      name: 'Cheaper',
      input_set_id: 'set',
      control: { instance_id: 'baseline' },
      candidate: { instance_id: 'candidate' },
      metrics: [{ field, metric_type: 'direct-comparison', statistic: 'mean', params }],
    };
    expectStatus(await server.request('POST', '/v1/applications/app/experiments/acceptance', { body }), 201);
    const { results } = await waitForDecision(server, 'app', id);
    expect(results?.passed).toBe(true);
    // The mean of 10, 20 and 30, and 5 less.
    expect(results?.metric_results?.[0]?.statistics).toMatchObject({
      control: { distribution_summary_statistics: { count: 3, mean: 20 } },
      candidate: { distribution_summary_statistics: { count: 3, mean: 15 } },
    });
  });

  test('select the best run of an ensemble, which has them too', async () => {
    const body = {
      id: 'best',
      name: 'Best',
      run_groups: ['baseline', 'candidate'].map((instance_id) => ({ id: instance_id, instance_id })),
      rules: [{ id: 'cost', statistics_path: '$.metrics.total_cost', objective: 'minimize', index: 0 }],
    };
    expectStatus(await server.request('POST', '/v1/applications/app/ensembles', { body }), 201);
    const run_type = { type: 'ensemble', definition_id: 'best' };
    const run = await createRunAndWait(server, 'app', {
      input: { cost: 10 },
      body: { configuration: { run_type } },
    });
    expect(run).toMatchObject({
      statistics: { indicators: [{ name: 'total_cost', value: 5, source: 'metrics' }, {}] },
      metrics: { status: 'success' },
    });
  });
});
