/** What acceptance tests refuse, each with a sentence that names the field. */
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

const create = (body: object) =>
  requestAcceptanceTest(server, application, { id: uniqueId('test'), input_set_id, ...body });
const metric = (changes: object) => ({ metrics: [{ ...MEAN_METRIC, ...changes }] });
const tolerance = (given: unknown, changes: object = {}) =>
  metric({ params: { operator: 'le', tolerance: given }, ...changes });
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...MEAN_METRIC, field: `result.custom.m${n}` }));

test.each<[string, object, string[]]>([
  ['no metric', { metrics: [] }, ['metrics has 0 items', '1 to 100']],
  ['101 metrics', { metrics: numbered(101) }, ['metrics has 101 items', '1 to 100']],
  ['no field', metric({ field: undefined }), ['metrics.0.field is missing']],
  ['an empty field', metric({ field: '' }), ['metrics.0.field', '1 to 255']],
  ['a long field', metric({ field: 'x'.repeat(256) }), ['metrics.0.field', '1 to 255']],
  ['a field with NUL', metric({ field: 'a\0b' }), ['metrics.0.field']],
  ['an empty statistic', metric({ statistic: '' }), ['metrics.0.statistic', '1 to 255']],
  ['a long statistic', metric({ statistic: 'x'.repeat(256) }), ['metrics.0.statistic', '1 to 255']],
  [
    'an unknown statistic',
    metric({ statistic: 'median' }),
    ['metrics.0.statistic is "median"', 'min, max, mean, std, count, shifted_geometric_mean, p01, p05, p10'],
  ],
  ['an inherited name', metric({ statistic: 'constructor' }), ['metrics.0.statistic is "constructor"']],
  ['a type that is none', metric({ metric_type: 'direct' }), ['metrics.0.metric_type', 'direct-comparison']],
  ['no params', metric({ params: undefined }), ['metrics.0.params is missing']],
  ['no operator', metric({ params: {} }), ['metrics.0.params.operator is missing']],
  ['an operator that is none', metric({ params: { operator: '<' } }), ['metrics.0.params.operator', 'gt']],
  ['a misspelt tolerance', metric({ params: { operator: 'le', tolerence: null } }), ['tolerance']],
  ['a tolerance without value', tolerance({ type: 'absolute' }), ['tolerance.value is missing']],
  ['a tolerance of text', tolerance({ type: 'absolute', value: '1' }), ['tolerance.value']],
  ['a tolerance type that is none', tolerance({ type: 'percent', value: 1 }), ['tolerance.type', 'relative']],
  [
    'a negative tolerance',
    tolerance({ type: 'absolute', value: -1 }),
    ['tolerance.value is -1', '0 or more'],
  ],
  [
    'a tolerance without type',
    tolerance({ type: '', value: 0.5 }),
    ['tolerance.type is ""', '0.5', 'absolute'],
  ],
  [
    'the same twice',
    { metrics: [MEAN_METRIC, ...numbered(1), MEAN_METRIC] },
    ['metrics.2', 'metrics.0', 'once'],
  ],
  [
    'the same in another spelling',
    {
      metrics: [
        MEAN_METRIC,
        { ...MEAN_METRIC, statistic: 'Mean', params: { operator: 'le', tolerance: null } },
      ],
    },
    ['metrics.1', 'metrics.0'],
  ],
  ['no name', { name: undefined }, ['name is missing']],
  ['a name of 49', { name: 'x'.repeat(49) }, ['name', '48']],
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
  ['a short name', { name: 'ab' }, ['name', '3 to 48']],
  ['a long description', { description: 'x'.repeat(129) }, ['description']],
  ['an id with capitals', { id: 'Test' }, ['id is']],
  ['an unknown field', { metric: [] }, ['metrics']],
])('400 for %s', async (_, body, words) => {
  expectError(await create(body), 400, ...words);
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
    ...tolerance({ type: 'absolute', value: '?' }),
    input_set_id,
  }).replace('"?"', value);
  const answer = await server.request('POST', `/v1/applications/${application}/experiments/acceptance`, {
    body: text,
  });
  expectError(answer, 400);
});

test('a hundred metrics are taken, and tolerances of 0 with any type', async () => {
  expectStatus(await create({ metrics: numbered(100) }), 201);
  for (const type of ['', 'absolute', 'relative'])
    expectStatus(await create(tolerance({ type, value: 0 })), 201);
  expectStatus(await create(tolerance(null)), 201);
});

test('what the id of a test is may be of another application, and is taken once', async () => {
  const id = uniqueId('test');
  expectStatus(await create({ id }), 201);
  expectError(await create({ id }), 400, `id is "${id}"`, 'another acceptance test');
  const other = await createAcceptanceApp(server);
  const set = await createInputSet(server, other, [{ control: 1, candidate: 1 }]);
  expectStatus(await requestAcceptanceTest(server, other, { id, input_set_id: set }), 201);
  expect((await create({ id: null })).status).toBe(201);
});
