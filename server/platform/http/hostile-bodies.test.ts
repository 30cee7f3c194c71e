/** Sends deep bodies, wide bodies and names of Object.prototype to every operation with a body. */
import { REQUEST_BODY_VALUES_MAX } from '@switchyard/contract/limits.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInstance, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { COMPLETE_BODIES } from '../../testing/http/complete-requests.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

let server: TestServer;
let application: string;
let workerToken: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createInstance(server);
  workerToken = (await createWorkerToken(server)).token;
});
afterAll(() => server.close());

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const wide = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join(',');
const DEEP = deep(99_000);
const formatFields = (id: string): string => JSON.stringify(COMPLETE_BODIES[id] ?? {}).slice(1, -1);
const KINDS: [string, (id: string) => string][] = [
  [
    '99,000 levels deep in every field',
    (id) => `{${Object.keys(COMPLETE_BODIES[id] ?? {}).map((name) => `"${name}":${DEEP}`)}}`,
  ],
  ['of nested arrays alone', () => DEEP],
  ['50,000 fields wide', (id) => `{${[formatFields(id), wide(50_000)].filter(Boolean)}}`],
  [
    'with the property names of Object.prototype',
    (id) =>
      `{${[formatFields(id), '"constructor":{"prototype":{"polluted":1}},"__proto__":{"polluted":1}'].filter(Boolean)}}`,
  ],
];
const operationsWithBody = (Object.values(operations) as Operation[]).filter(
  (one) => one.body && !one.body.stream,
);

describe.each(KINDS)('a body %s', (_, make) => {
  test.each(operationsWithBody)(
    'to $id gets a declared status and a short message',
    async ({ id, method, path, responses, right }) => {
      const at = path
        .replace('{application_id}', application)
        .replace('{fence}', '1')
        .replaceAll(/\{\w+\}/g, 'missing');
      const token = right === 'work' ? workerToken : server.token;
      const body = make(id);
      const startedAt = performance.now();
      const response = await server.request(method, at, { body, token });
      const declared = [...Object.keys(responses).map(Number), 400, 403, 404];
      expect(declared, response.text.slice(0, 300)).toContain(response.status);
      if (response.status >= 400) expect(response.text.length).toBeLessThan(1000);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    },
  );
});

test('a number that no double holds is a 400, because a response could not show it', async () => {
  const path = `/v1/applications/${application}/experiments/plan`;
  const post = (value: string) =>
    server.request('POST', path, {
      body: `{"difference":{"type":"relative","value":${value}},"within_input":1}`,
    });
  expectStatus(await post('1e100'), 200);
  // A double, beyond the bound of the field.
  expectError(await post('1e308'), 400, 'difference.value is 1e+308; it must be 1e-100 to 1e+100');
  for (const value of ['1e309', '-1e309'])
    expectError(await post(value), 400, 'difference.value is a number beyond 1.8e308');
});

describe('a run', () => {
  const post = (body: string) => server.request('POST', `/v1/applications/${application}/runs`, { body });

  test.each([
    ['lists', '[],'],
    ['objects', '{},'],
    ['fields of objects', '{"a":"],"},'],
  ])('A10: with very many %s is refused before it is parsed, unless they are its input', async (_, value) => {
    const list = `[${value.repeat(REQUEST_BODY_VALUES_MAX)}0]`;
    const message = `more than ${REQUEST_BODY_VALUES_MAX} lists, objects and fields of objects outside input`;
    expectError(await post(`{"options":${list},"input":1}`), 400, message);
    expectError(await post(`{"input":${list},"x":${list}}`), 400, message);
    expectError(await post(`{"input":${list}}}`), 400, 'not valid JSON: there is "}" at byte');
    expectError(await post(`{"input":${list},"inputs":1}`), 400, 'inputs is not a field');
    const text = { format: { input: { type: 'text' } } };
    const refused = await post(`{"input":${list},"configuration":${JSON.stringify(text)}}`);
    expectError(refused, 400, 'for the format text it must be text');
    const created = await post(`{ "input" : ${list} , "name":"many"}`);
    expectStatus(created, 202);
    const { run_id } = created.body as { run_id: string };
    const read = await server.request('GET', `/v1/applications/${application}/runs/${run_id}/input`);
    expect(read.text).toBe(list);
  });

  test('accepts an input of the maximum depth and returns it unchanged; 400 for a deeper one', async () => {
    expectError(await post(`{"input":${deep(100_000)}}`), 400, 'more than 100000 levels deep');
    expectError(
      await post(`{"a":"]}\\"]}${'x'.repeat(100)}","input":${'[{"a":'.repeat(800_000)}`),
      400,
      'levels deep',
    );
    const input = deep(99_999);
    const created = await post(`{"input":${input}}`);
    expectStatus(created, 202);
    const { run_id } = created.body as { run_id: string };
    const read = await server.request('GET', `/v1/applications/${application}/runs/${run_id}/input`);
    expect(read.text).toBe(input);
  });

  test('with 140,000 options, or one option 140,000 times, gets a response in bounded time', async () => {
    const startedAt = performance.now();
    expectError(await post(`{"input":1,"options":{${wide(140_000)}}}`), 400, '140000');
    expectStatus(await post(`{"input":1,"options":{${'"a":1,'.repeat(140_000)}"a":2}}`), 202);
    // These numbers collide in a hash table whose hash depends on the number alone.
    const alike = Array.from({ length: 140_000 }, (_, index) => `"${4_294_967_296 + index * 16_777_216}":1`);
    expectError(await post(`{"input":1,"options":{${alike.join(',')}}}`), 400);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});
