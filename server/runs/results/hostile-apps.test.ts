/** Hostile apps: their manifests and their output. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, nodeApp, packFiles, pushArchive, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, MANIFEST } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
/** An app that evaluates its input as an expression and prints the value. */
let printer: string;
beforeAll(async () => {
  server = await startTestServer();
  printer = await pushAppWithManifest(MANIFEST, '(input) => void process.stdout.write(eval(input))');
});
afterAll(() => server.close());

async function pushAppWithManifest(manifest: string, source = '() => ({})'): Promise<string> {
  const application = await createApplication(server);
  const archive = await packFiles({ 'app.yaml': manifest, ...nodeApp(source) });
  expectStatus(await pushArchive(server, application, archive), 200);
  return application;
}

const formatStatistics = (result: string): string => `'{"statistics":{"schema":"v1","result":${result}}}'`;
const formatNestedLists = (depth: number): string => `'['.repeat(${depth}) + ']'.repeat(${depth})`;

describe('hostile output', () => {
  interface ExpectedRun {
    /** Absent when both outcomes are right. */
    status?: string;
    statistics: string;
    message?: string;
  }
  const OUTPUTS: [name: string, expression: string, expected: ExpectedRun][] = [
    [
      'a number above the largest',
      formatStatistics('{"value":1e400}'),
      { status: 'succeeded', statistics: 'error', message: 'statistics.result.value is a number too large' },
    ],
    [
      'a number of 20 digits',
      formatStatistics('{"value":12345678901234567890}'),
      { status: 'succeeded', statistics: 'success' },
    ],
    [
      'keys that every object inherits',
      formatStatistics('{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3}'),
      { status: 'succeeded', statistics: 'success' },
    ],
    ['a key twice', formatStatistics('{"a":1,"a":2}'), { status: 'succeeded', statistics: 'success' }],
    [
      'lone surrogates and NUL',
      formatStatistics('{"a":"\\\\ud800","\\\\udfff\\\\u0000":1}'),
      { status: 'succeeded', statistics: 'success' },
    ],
    [
      'statistics nested 100,000 deep',
      `'{"statistics":{"schema":"v1","result":' + '{"a":'.repeat(1e5) + 1 + '}'.repeat(1e5) + '}}'`,
      { status: 'succeeded', statistics: 'error', message: 'it may have 10000' },
    ],
    [
      'an output nested 100,000 deep',
      `'{"solution":' + ${formatNestedLists(100_000)} + '}'`,
      { status: 'succeeded', statistics: 'none' },
    ],
    [
      'an asset nested 100,000 deep',
      `'{"assets":[{"name":"a","content":' + ${formatNestedLists(100_000)} + '}]}'`,
      { statistics: 'none' },
    ],
    // Metrics below 64 levels are an error of the statistics, not of the run.
    [
      'metrics nested 100,000 deep',
      `'{"metrics":{"a":' + ${formatNestedLists(100_000)} + '}}'`,
      { status: 'succeeded', statistics: 'error', message: 'levels' },
    ],
    [
      'statistics of 200,000 keys',
      `'{"statistics":{' + Array.from({length: 2e5}, (_, i) => '"k' + i + '":1').join() + '}}'`,
      { status: 'succeeded', statistics: 'error', message: 'it may have 10000' },
    ],
    [
      'bytes that are no UTF-8',
      'Buffer.from([0x7b, 0x22, 0xff, 0xc0, 0x80, 0x7d])',
      { status: 'failed', statistics: 'none', message: 'not UTF-8 (byte 2 is 0xFF;' },
    ],
    [
      'UTF-16',
      `Buffer.from('{"a":1}', 'utf16le')`,
      { status: 'failed', statistics: 'none', message: 'it looks like UTF-16 LE' },
    ],
    [
      'an asset with a path and a header in its name',
      `'{"assets":[{"name":"../../etc/passwd\\\\r\\\\nX: 1","content":"<script>"}]}'`,
      { status: 'succeeded', statistics: 'none' },
    ],
    [
      'an asset with lone surrogates',
      `'{"assets":[{"name":"\\\\ud800","description":"\\\\udfff","content":"\\\\ud800","visual":{"a":"\\\\ud800\\\\u0000"}}]}'`,
      { status: 'succeeded', statistics: 'none' },
    ],
    [
      '100,000 assets',
      `'{"assets":[' + '{"name":"a","content":1},'.repeat(99999) + '{"name":"a","content":1}]}'`,
      { status: 'succeeded', statistics: 'none' },
    ],
  ];
  const runs = new Map<string, string>();
  beforeAll(async () => {
    for (const [name, input] of OUTPUTS) runs.set(name, await createRun(server, printer, { input }));
  });

  test.each(OUTPUTS)(
    '%s ends the run, and every response about it is readable',
    async (name, _, { status, statistics, message }) => {
      const id = runs.get(name) ?? '';
      const run = await waitForRunEnd(server, printer, id);
      if (status) expect(run.status_v2, run.error).toBe(status);
      expect(run.statistics.status).toBe(statistics);
      if (message) expect(`${run.error} ${run.statistics.error}`).toContain(message);
      for (const { name, value } of run.statistics.indicators) {
        expect(name.isWellFormed() && !name.includes('\0')).toBe(true);
        expect(['number', 'string', 'boolean']).toContain(typeof value);
      }
      const path = `/v1/applications/${printer}/runs/${id}`;
      for (const part of ['', '/metadata', '/assets', '/logs', '/output?format=url'])
        expectStatus(await server.request('GET', path + part), 200);
    },
  );

  test('is readable in the list of these runs', async () => {
    expectStatus(await server.request('GET', `/v1/applications/${printer}/runs`), 200);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('a hostile manifest', () => {
  const rules = (items: string, more = 'validation: {enforce: all}'): string =>
    `${MANIFEST}configuration: {options: {${more}, items: [${items}]}}\n`;
  const long = (count: number): string => Array.from({ length: count }, (_, index) => `v${index}`).join(', ');

  test.each([
    [
      'are an object',
      rules('{name: x, additional_attributes: {values: [{toString: 1}]}}'),
      'one of {\\"toString\\":1}',
    ],
    [
      'are nested lists',
      rules(`{name: x, additional_attributes: {values: [${'['.repeat(40)}${']'.repeat(40)}]}}`),
      'must be one of [[',
    ],
    ['are 30,000', rules(`{name: x, additional_attributes: {values: [${long(30_000)}]}}`), 'and 29950 more'],
  ])('gets a short 400 when the values of an option %s', async (_, manifest, message) => {
    const application = await pushAppWithManifest(manifest);
    const body = { input: {}, options: { x: 'a' } };
    const response = await server.request('POST', `/v1/applications/${application}/runs`, { body });
    expectError(response, 400);
    expect(response.text).toContain(message);
    expect(response.text.length).toBeLessThan(2000);
  });

  test('gets a short 400 when a run has none of its 5,000 options', async () => {
    const items = Array.from({ length: 5000 }, (_, index) => `{name: o${index}}`).join(', ');
    const application = await pushAppWithManifest(rules(items, 'strict: true'));
    const body = { input: {}, options: { x: 'a' } };
    const response = await server.request('POST', `/v1/applications/${application}/runs`, { body });
    expectError(response, 400, 'and 4950 more');
  });

  test.each([
    ['entrypoint: ../../etc/passwd', 'is outside the executable'],
    ['entrypoint: /etc/passwd', 'is outside the executable'],
    ['entrypoint: "..\\\\..\\\\x"', 'has no entry point'],
    ['entrypoint: "%2e%2e/x"', 'has no entry point'],
    ['cwd: ../..', 'is outside the executable'],
  ])('with %s is refused at the push', async (execution, message) => {
    const application = await createApplication(server);
    const archive = await packFiles({
      'app.yaml': `${MANIFEST}execution: {${execution}}\n`,
      ...nodeApp('() => 1'),
    });
    const response = await pushArchive(server, application, archive);
    expectError(response, 400, message);
    expectError(response, 400, 'in app.yaml');
  });

  test('cannot pass a NUL to its app in an option, and passes shell metacharacters unchanged', async () => {
    const withNul = await pushAppWithManifest(rules('{name: x, default: "a\\0b"}'));
    const failed = await waitForRunEnd(server, withNul, await createRun(server, withNul, { input: {} }));
    expect(failed).toMatchObject({ status_v2: 'failed', error: expect.stringContaining('zero byte') });
    const metacharacters = '$& $(id) `id` \'"; $HOME {{name}}';
    const application = await pushAppWithManifest(
      rules(`{name: x, default: ${JSON.stringify(metacharacters)}}, {name: __proto__, default: 1}`),
      '() => ({ received: process.argv.slice(2) })',
    );
    const run = await waitForRunEnd(server, application, await createRun(server, application, { input: {} }));
    expect(run.output).toEqual({ received: ['-x', metacharacters, '-__proto__', '1'] });
  });
});
