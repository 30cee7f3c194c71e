/** Apps made by somebody who means ill: what they say of themselves, and what they print. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, nodeApp, packFiles, pushArchive, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, MANIFEST } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
/** Prints what the expression that is its input makes. */
let printer: string;
beforeAll(async () => {
  server = await startTestServer();
  printer = await pushed(MANIFEST, '(input) => void process.stdout.write(eval(input))');
});
afterAll(() => server.close());

async function pushed(manifest: string, source = '() => ({})'): Promise<string> {
  const application = await createApplication(server);
  const archive = await packFiles({ 'app.yaml': manifest, ...nodeApp(source) });
  expectStatus(await pushArchive(server, application, archive), 200);
  return application;
}

const BLOCK = (result: string): string => `'{"statistics":{"schema":"v1","result":${result}}}'`;
const DEEP = (depth: number): string => `'['.repeat(${depth}) + ']'.repeat(${depth})`;

describe('what an app prints', () => {
  const OUTPUTS: [what: string, expression: string, status: string, statistics: string, words?: string][] = [
    [
      'a number beyond all numbers',
      BLOCK('{"value":1e400}'),
      'succeeded',
      'error',
      'statistics.result.value is a number too large',
    ],
    ['a number of 20 digits', BLOCK('{"value":12345678901234567890}'), 'succeeded', 'success'],
    [
      'keys that every object has',
      BLOCK('{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3}'),
      'succeeded',
      'success',
    ],
    ['a key twice', BLOCK('{"a":1,"a":2}'), 'succeeded', 'success'],
    [
      'half characters and zero bytes',
      BLOCK('{"a":"\\\\ud800","\\\\udfff\\\\u0000":1}'),
      'succeeded',
      'success',
    ],
    [
      'statistics nested 100,000 deep',
      `'{"statistics":{"schema":"v1","result":' + '{"a":'.repeat(1e5) + 1 + '}'.repeat(1e5) + '}}'`,
      'succeeded',
      'error',
      'it may have 10000',
    ],
    ['an output nested 100,000 deep', `'{"solution":' + ${DEEP(100_000)} + '}'`, 'succeeded', 'none'],
    [
      'an asset nested 100,000 deep',
      `'{"assets":[{"name":"a","content":' + ${DEEP(100_000)} + '}]}'`,
      '',
      'none',
    ],
    // Metrics are read as indicators down to 64 levels; deeper ones are an error of the statistics, not of the run.
    [
      'metrics nested 100,000 deep',
      `'{"metrics":{"a":' + ${DEEP(100_000)} + '}}'`,
      'succeeded',
      'error',
      'levels',
    ],
    [
      'statistics of 200,000 keys',
      `'{"statistics":{' + Array.from({length: 2e5}, (_, i) => '"k' + i + '":1').join() + '}}'`,
      'succeeded',
      'error',
      'it may have 10000',
    ],
    [
      'bytes that are no UTF-8',
      'Buffer.from([0x7b, 0x22, 0xff, 0xc0, 0x80, 0x7d])',
      'failed',
      'none',
      'not JSON',
    ],
    ['UTF-16', `Buffer.from('{"a":1}', 'utf16le')`, 'failed', 'none', 'not JSON'],
    [
      'an asset whose name leads elsewhere',
      `'{"assets":[{"name":"../../etc/passwd\\\\r\\\\nX: 1","content":"<script>"}]}'`,
      'succeeded',
      'none',
    ],
    [
      'an asset of halves',
      `'{"assets":[{"name":"\\\\ud800","description":"\\\\udfff","content":"\\\\ud800","visual":{"a":"\\\\ud800\\\\u0000"}}]}'`,
      'succeeded',
      'none',
    ],
    [
      '100,000 assets',
      `'{"assets":[' + '{"name":"a","content":1},'.repeat(99999) + '{"name":"a","content":1}]}'`,
      'succeeded',
      'none',
    ],
  ];
  const runs = new Map<string, string>();
  beforeAll(async () => {
    for (const [what, input] of OUTPUTS) runs.set(what, await createRun(server, printer, { input }));
  });

  test.each(OUTPUTS)(
    '%s: the run ends, and everything of it can be read',
    async (what, _, status, statistics, words) => {
      const id = runs.get(what) ?? '';
      const run = await waitForRunEnd(server, printer, id);
      if (status !== '') expect(run.status_v2, run.error).toBe(status);
      expect(run.statistics.status).toBe(statistics);
      if (words) expect(`${run.error} ${run.statistics.error}`).toContain(words);
      for (const { name, value } of run.statistics.indicators) {
        expect(name.isWellFormed() && !name.includes('\0')).toBe(true);
        expect(['number', 'string', 'boolean']).toContain(typeof value);
      }
      const path = `/v1/applications/${printer}/runs/${id}`;
      for (const part of ['', '/metadata', '/assets', '/logs', '/output?format=url'])
        expectStatus(await server.request('GET', path + part), 200);
    },
  );

  test('the list of all these runs can be read', async () => {
    expectStatus(await server.request('GET', `/v1/applications/${printer}/runs`), 200);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('what a manifest says', () => {
  const rules = (items: string, more = 'validation: {enforce: all}'): string =>
    `${MANIFEST}configuration: {options: {${more}, items: [${items}]}}\n`;
  const long = (count: number): string => Array.from({ length: count }, (_, index) => `v${index}`).join(', ');

  test.each([
    [
      'is an object that is no text',
      rules('{name: x, additional_attributes: {values: [{toString: 1}]}}'),
      'one of {\\"toString\\":1}',
    ],
    [
      'is a list in lists',
      rules(`{name: x, additional_attributes: {values: [${'['.repeat(40)}${']'.repeat(40)}]}}`),
      'must be one of [[',
    ],
    ['are 30,000', rules(`{name: x, additional_attributes: {values: [${long(30_000)}]}}`), 'and 29950 more'],
  ])('400 in a short sentence where what an option may be %s', async (_, manifest, words) => {
    const application = await pushed(manifest);
    const body = { input: {}, options: { x: 'a' } };
    const answer = await server.request('POST', `/v1/applications/${application}/runs`, { body });
    expectError(answer, 400);
    expect(answer.text).toContain(words);
    expect(answer.text.length).toBeLessThan(2000);
  });

  test('400 in a short sentence where there are 5,000 options and no other', async () => {
    const items = Array.from({ length: 5000 }, (_, index) => `{name: o${index}}`).join(', ');
    const application = await pushed(rules(items, 'strict: true'));
    const body = { input: {}, options: { x: 'a' } };
    const answer = await server.request('POST', `/v1/applications/${application}/runs`, { body });
    expectError(answer, 400, 'and 4950 more');
  });

  test.each([
    ['entrypoint: ../../etc/passwd', 'is outside the executable'],
    ['entrypoint: /etc/passwd', 'is outside the executable'],
    ['entrypoint: "..\\\\..\\\\x"', 'has no entry point'],
    ['entrypoint: "%2e%2e/x"', 'has no entry point'],
    ['cwd: ../..', 'is outside the executable'],
  ])('a run of an app whose %s fails with a sentence', async (execution, words) => {
    const application = await pushed(`${MANIFEST}execution: {${execution}}\n`);
    const run = await waitForRunEnd(server, application, await createRun(server, application, { input: {} }));
    expect(run).toMatchObject({ status_v2: 'failed', error: expect.stringContaining(words) });
  });

  test('an option with a zero byte reaches no app, and one with the signs of a shell reaches it as it is', async () => {
    const zero = await pushed(rules('{name: x, default: "a\\0b"}'));
    const failed = await waitForRunEnd(server, zero, await createRun(server, zero, { input: {} }));
    expect(failed).toMatchObject({ status_v2: 'failed', error: expect.stringContaining('zero byte') });
    const signs = '$& $(id) `id` \'"; $HOME {{name}}';
    const application = await pushed(
      rules(`{name: x, default: ${JSON.stringify(signs)}}, {name: __proto__, default: 1}`),
      '() => ({ given: process.argv.slice(2) })',
    );
    const run = await waitForRunEnd(server, application, await createRun(server, application, { input: {} }));
    expect(run.output).toEqual({ given: ['-x', signs, '-__proto__', '1'] });
  });
});
