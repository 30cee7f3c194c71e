/** Validation of acceptance tests: each 400 names the field. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createInputSet,
  MEAN_METRIC,
  requestAcceptanceTest,
} from '../../testing/fixtures/acceptance-tests.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let input_set_id: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
  input_set_id = await createInputSet(server, application, [{ control: 1, candidate: 1 }]);
});
afterAll(() => server.close());

const postTest = (body: object) =>
  requestAcceptanceTest(server, application, { id: uniqueId('test'), input_set_id, ...body });
const withMetric = (changes: object) => ({ metrics: [{ ...MEAN_METRIC, ...changes }] });
const withTolerance = (value: unknown, changes: object = {}) =>
  withMetric({ params: { operator: 'le', tolerance: value }, ...changes });
const withNonInferiority = (operator: string, tolerance: unknown, changes: object = {}) =>
  withMetric({ hypothesis: 'non-inferiority', params: { operator, tolerance }, ...changes });
const buildMetrics = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...MEAN_METRIC, field: `result.custom.m${n}` }));

test.each<[string, object, string[]]>([
  ['no metric', { metrics: [] }, ['metrics has 0 items', '1 to 100']],
  ['101 metrics', { metrics: buildMetrics(101) }, ['metrics has 101 items', '1 to 100']],
  ['no field', withMetric({ field: undefined }), ['metrics.0.field is missing']],
  ['an empty field', withMetric({ field: '' }), ['metrics.0.field', '1 to 255']],
  ['a long field', withMetric({ field: 'x'.repeat(256) }), ['metrics.0.field', '1 to 255']],
  ['a field with NUL', withMetric({ field: 'a\0b' }), ['metrics.0.field']],
  ['an empty statistic', withMetric({ statistic: '' }), ['metrics.0.statistic', '1 to 255']],
  ['a long statistic', withMetric({ statistic: 'x'.repeat(256) }), ['metrics.0.statistic', '1 to 255']],
  [
    'an unknown statistic',
    withMetric({ statistic: 'median' }),
    ['metrics.0.statistic is "median"', 'min, max, mean, std, count, shifted_geometric_mean, p01, p05, p10'],
  ],
  ['an inherited name', withMetric({ statistic: 'constructor' }), ['metrics.0.statistic is "constructor"']],
  [
    'an unknown metric type',
    withMetric({ metric_type: 'direct' }),
    ['metrics.0.metric_type', 'direct-comparison'],
  ],
  ['no params', withMetric({ params: undefined }), ['metrics.0.params is missing']],
  ['no operator', withMetric({ params: {} }), ['metrics.0.params.operator is missing']],
  ['an unknown operator', withMetric({ params: { operator: '<' } }), ['metrics.0.params.operator', 'gt']],
  ['a misspelt tolerance', withMetric({ params: { operator: 'le', tolerence: null } }), ['tolerance']],
  ['a tolerance without value', withTolerance({ type: 'absolute' }), ['tolerance.value is missing']],
  ['a tolerance value that is text', withTolerance({ type: 'absolute', value: '1' }), ['tolerance.value']],
  ['an unknown tolerance type', withTolerance({ type: 'percent', value: 1 }), ['tolerance.type', 'relative']],
  [
    'a negative tolerance',
    withTolerance({ type: 'absolute', value: -1 }),
    ['tolerance.value is -1', '0 or more'],
  ],
  [
    'a tolerance without type',
    withTolerance({ type: '', value: 0.5 }),
    ['tolerance.type is ""', '0.5', 'absolute'],
  ],
  [
    'a duplicate metric',
    { metrics: [MEAN_METRIC, ...buildMetrics(1), MEAN_METRIC] },
    ['metrics.2', 'metrics.0', 'once'],
  ],
  [
    'a duplicate metric in another spelling',
    {
      metrics: [
        MEAN_METRIC,
        { ...MEAN_METRIC, statistic: 'Mean', params: { operator: 'le', tolerance: null } },
      ],
    },
    ['metrics.1', 'metrics.0'],
  ],
  [
    'a metric type non-inferiority, which is a hypothesis',
    withMetric({ metric_type: 'non-inferiority' }),
    ['metrics.0.metric_type', 'direct-comparison'],
  ],
  [
    'an unknown hypothesis',
    withMetric({ hypothesis: 'equivalence' }),
    ['metrics.0.hypothesis', 'non-inferiority'],
  ],
  [
    'a hypothesis about a threshold',
    withNonInferiority('le', { type: 'absolute', value: 1 }, { metric_type: 'absolute-threshold' }),
    ['metrics.0.hypothesis is "non-inferiority"', '"absolute-threshold"', '"direct-comparison"'],
  ],
  ...['max', 'min', 'std', 'count'].map((statistic): [string, object, string[]] => [
    `T3: a non-inferiority rule on ${statistic}`,
    withNonInferiority('le', { type: 'relative', value: 0.01 }, { statistic }),
    [`metrics.0.statistic is "${statistic}"`, 'no bound', 'shifted_geometric_mean or a percentile'],
  ]),
  // One of 59 inputs is beyond p95 with 95 %: 1 - 0.95^58 = 0.949, 1 - 0.95^59 = 0.951.
  ...(
    [
      ['p95', 59],
      ['p05', 59],
      ['p90', 29],
      ['p75', 11],
      ['p99', 299],
    ] as const
  ).map(([statistic, needed]): [string, object, string[]] => [
    `T3: a non-inferiority rule on ${statistic} of one input`,
    withNonInferiority('le', { type: 'relative', value: 0.01 }, { statistic }),
    [`metrics.0.statistic is "${statistic}"`, 'the input set has 1 input;', `at least ${needed}.`],
  ]),
  [
    'a non-inferiority rule of equality',
    withNonInferiority('eq', { type: 'relative', value: 0.01 }),
    ['metrics.0.params.operator is "eq"', 'lt or le'],
  ],
  [
    'a non-inferiority rule without a tolerance',
    withNonInferiority('le', null),
    ['metrics.0.params.tolerance.type is ""', 'largest loss'],
  ],
  [
    'a non-inferiority rule with a negative tolerance',
    withNonInferiority('le', { type: 'absolute', value: -1 }),
    ['metrics.0.params.tolerance.value is -1', '0 or more'],
  ],
  [
    'a non-inferiority rule that any candidate passes',
    withNonInferiority('ge', { type: 'relative', value: 1 }),
    ['metrics.0.params.tolerance.value is 1', 'below 1'],
  ],
  ['a failure margin above 1', { failure_margin: 1.1 }, ['failure_margin', '1']],
  ['a failure margin below 0', { failure_margin: -0.1 }, ['failure_margin', '0']],
  ['no name', { name: undefined }, ['name is missing']],
  ['a name of 49 characters', { name: 'x'.repeat(49) }, ['name', '48']],
  ['no control', { control: undefined }, ['control is missing']],
  ['no candidate', { candidate: null }, ['candidate']],
  ['a side without instance', { control: { version_id: 'v1' } }, ['control.instance_id is missing']],
  ['a misspelt side', { control: { instance_id: 'control', version: 'v1' } }, ['version_id']],
  ['the same side twice', { candidate: { instance_id: 'control' } }, ['candidate.instance_id is "control"']],
  [
    'two names of one instance',
    { control: { instance_id: 'latest' }, candidate: { instance_id: 'devint' } },
    ['candidate.instance_id is "devint"'],
  ],
  [
    'the default instance twice',
    { control: { instance_id: 'default' }, candidate: { instance_id: 'latest' } },
    ['candidate.instance_id is "latest"'],
  ],
  ['a name of 2 characters', { name: 'ab' }, ['name', '3 to 48']],
  ['a long description', { description: 'x'.repeat(129) }, ['description']],
  ['an id with capitals', { id: 'Test' }, ['id is']],
  ['an unknown field', { metric: [] }, ['metrics']],
])('400 for %s', async (_, body, messageParts) => {
  expectError(await postTest(body), 400, ...messageParts);
});

test.each([
  ['1e999', 'Infinity'],
  ['-1e999', 'minus infinity'],
  ['NaN', 'NaN'],
])('400 for a tolerance of %s', async (value) => {
  const text = JSON.stringify({
    name: 'Any name',
    control: { instance_id: 'control' },
    candidate: { instance_id: 'candidate' },
    ...withTolerance({ type: 'absolute', value: '?' }),
    input_set_id,
  }).replace('"?"', value);
  const response = await server.request('POST', `/v1/applications/${application}/experiments/acceptance`, {
    body: text,
  });
  expectError(response, 400);
});

test('100 metrics are accepted, and so are tolerances of 0 with any type', async () => {
  expectStatus(await postTest({ metrics: buildMetrics(100) }), 201);
  for (const type of ['', 'absolute', 'relative'])
    expectStatus(await postTest(withTolerance({ type, value: 0 })), 201);
  expectStatus(await postTest(withTolerance(null)), 201);
});

test('T3: non-inferiority rules on p50 and the shifted geometric mean are accepted', async () => {
  for (const statistic of ['p50', 'shifted_geometric_mean'])
    expectStatus(
      await postTest(withNonInferiority('le', { type: 'relative', value: 0.01 }, { statistic })),
      201,
    );
});

test('the id of a test is unique in its application, and free in another', async () => {
  const id = uniqueId('test');
  expectStatus(await postTest({ id }), 201);
  expectError(await postTest({ id }), 400, `id is "${id}"`, 'another acceptance test');
  const other = await createAcceptanceApp(server);
  const set = await createInputSet(server, other, [{ control: 1, candidate: 1 }]);
  expectStatus(await requestAcceptanceTest(server, other, { id, input_set_id: set }), 201);
  expect((await postTest({ id: null })).status).toBe(201);
});
