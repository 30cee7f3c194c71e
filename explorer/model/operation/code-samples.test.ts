/** Runs the samples as readers do, and compares the requests that reach a server with the document. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildDocument, readTestOperation } from '../../testing/read-test-document.ts';
import { buildCodeSamples } from './code-samples.ts';

type Arrived = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

const run = promisify(execFile);
const arrived: Arrived[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers } = request;
  arrived.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
  response.end('fine');
});
let folder = '';
let baseUrl = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-samples-'));
  writeFileSync(join(folder, 'FILE'), 'some bytes');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await new Promise((resolve) => server.close(resolve));
});

/** Runs the curl and JavaScript samples of operations and returns the requests of each. */
async function callAll(documents: object[]): Promise<{ shell: Arrived[]; script: Arrived[] }> {
  const all = documents.map((document) => buildCodeSamples(readTestOperation(document), { baseUrl }));
  const codes = (wanted: string) =>
    all.map((samples) => samples.find(({ label }) => label === wanted)?.code ?? '');
  const env = { ...process.env, API_TOKEN: 's:ecret', FIRST: 'one', SECOND: 'two' };
  const calls = async (command: string, args: string[]) => {
    await run(command, args, { cwd: folder, env });
    return arrived.splice(0);
  };
  const shell = await calls('bash', ['-ec', codes('curl').join('\n')]);
  const names = codes('JavaScript').map((code, index) => {
    writeFileSync(join(folder, `sample-${index}.mjs`), code);
    return `await import('./sample-${index}.mjs');`;
  });
  writeFileSync(join(folder, 'all.mjs'), names.join('\n'));
  const script = await calls(process.execPath, ['all.mjs']);
  expect([shell.length, script.length]).toEqual([documents.length, documents.length]);
  return { shell, script };
}

/** Returns the requests that the curl and JavaScript samples of one operation send. */
async function call(operation: object, rest: object = {}): Promise<Arrived[]> {
  const { shell, script } = await callAll([buildDocument(operation, rest)]);
  return [...shell, ...script];
}

describe('the request of a sample', () => {
  const query = (name: string, more: object) => ({ name, in: 'query', required: true, ...more });

  const addresses = [
    [{ name: 'id', in: 'path', example: "a/b ?'#" }, '/things/a%2Fb%20%3F%27%23'],
    [{ name: 'id', in: 'path', example: ['a', 'b,c'] }, '/things/a,b%2Cc'],
    [{ name: 'id', in: 'path', example: ['a', 'b'], style: 'matrix', explode: true }, '/things/;id=a;id=b'],
    [{ name: 'id', in: 'path', example: { x: 1 }, style: 'label', explode: true }, '/things/.x=1'],
    [{ name: 'other', in: 'path' }, '/things/ID'],
    [query('q', { example: 'a&b=c é' }), '/things/ID?q=a%26b%3Dc%20%C3%A9'],
    [query('q', { example: ['a', 'b c'] }), '/things/ID?q=a&q=b%20c'],
    [query('q', { example: ['a', 'b,c'], explode: false }), '/things/ID?q=a,b%2Cc'],
    [query('q', { example: ['a', 'b'], style: 'pipeDelimited', explode: false }), '/things/ID?q=a%7Cb'],
    [query('q', { example: ['a', 'b'], style: 'spaceDelimited', explode: false }), '/things/ID?q=a%20b'],
    [
      query('q', { example: { a: 1, b: { c: 2 } }, style: 'deepObject' }),
      '/things/ID?q%5Ba%5D=1&q%5Bb%5D%5Bc%5D=2',
    ],
    [query('q', { example: { a: 1, b: 2 } }), '/things/ID?a=1&b=2'],
    [
      query('q', { content: { 'application/json': { example: { a: ['x'] } } } }),
      '/things/ID?q=%7B%22a%22%3A%5B%22x%22%5D%7D',
    ],
    [query('q', { example: 'a:b/c&d', allowReserved: true }), '/things/ID?q=a:b/c%26d'],
    [query('zero', { schema: { default: 0 } }), '/things/ID?zero=0'],
    [query('no', { schema: { default: false } }), '/things/ID?no=false'],
    [query('optional', { required: false }), '/things/ID'],
  ] as const;

  test('writes parameters in their style', async () => {
    const documents = addresses.map(([parameter]) => buildDocument({ parameters: [parameter] }));
    const { shell, script } = await callAll(documents);
    // fetch and curl leave a quote in an address unescaped.
    const expected = addresses.map(([, url]) => url.replace('%27', "'"));
    expect(shell.map(({ url }) => url)).toEqual(expected);
    expect(script.map(({ url }) => url)).toEqual(expected);
    expect(new Set([...shell, ...script].map(({ method }) => method))).toEqual(new Set(['POST']));
  });

  test('has headers, and one header for all cookies', async () => {
    const both = await call(
      {
        parameters: [
          { name: 'X-List', in: 'header', required: true, example: ["it's", '$HOME'] },
          { name: 'c', in: 'cookie', required: true, example: 'd' },
        ],
        security: [{ session: [] }],
      },
      { components: { securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } } } },
    );
    for (const { headers } of both)
      expect(headers).toMatchObject({ 'x-list': "it's,$HOME", cookie: 'c=d; sid=s:ecret' });
  });

  test('takes one credential from the configured variable, and several from variables of their own', async () => {
    const components = {
      securitySchemes: {
        login: { type: 'http', scheme: 'basic' },
        first: { type: 'apiKey', in: 'header', name: 'X-First' },
        second: { type: 'http', scheme: 'bearer' },
        inAddress: { type: 'apiKey', in: 'query', name: 'apiKey' },
      },
    };
    const headersFor = async (...security: object[]) =>
      (await call({ security }, { components })).map(({ headers, url }) => ({ ...headers, url }));
    const basic = `Basic ${Buffer.from('s:ecret').toString('base64')}`;
    for (const one of await headersFor({}, { login: [] })) expect(one.authorization).toBe(basic);
    for (const one of await headersFor({ first: [], second: [] }, { login: [] }))
      expect(one).toMatchObject({ 'x-first': 'one', authorization: 'Bearer two' });
    for (const one of await headersFor({ inAddress: [] })) expect(one.url).toBe('/things/ID?apiKey=API_KEY');
  });

  const buildBody = (type: string, media: object) => ({
    requestBody: { required: true, content: { [type]: media } },
  });

  test.for([
    [
      'application/json',
      { example: { "it's": ['$HOME', '`x`', '\\', null, 'é'] } },
      `{"it's":["$HOME","\`x\`","\\\\",null,"é"]}`,
    ],
    ['application/merge-patch+json', { example: [] }, '[]'],
    ['text/csv', { example: "a,b\n1,'2'" }, "a,b\n1,'2'"],
    ['application/gzip', {}, 'some bytes'],
  ] as const)('has a body of %s with %o', async ([type, media, body]) => {
    for (const one of await call(buildBody(type, media))) {
      expect(one.headers['content-type']).toBe(type);
      expect(/json/.test(type) ? JSON.stringify(JSON.parse(one.body)) : one.body).toBe(body);
    }
  });

  test('has a form with lists and objects in their encoding', async () => {
    const media = {
      example: { 'a b': "it's = &", list: ['x', 'y'], map: { k: 1 }, deep: { k: { l: 2 } }, at: '@home' },
      encoding: { deep: { style: 'deepObject', explode: true } },
    };
    for (const one of await call(buildBody('application/x-www-form-urlencoded', media))) {
      expect(one.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
      expect([...new URLSearchParams(one.body)]).toEqual([
        ['a b', "it's = &"],
        ['list', 'x'],
        ['list', 'y'],
        ['map', '{"k":1}'],
        ['deep[k][l]', '2'],
        ['at', '@home'],
      ]);
    }
  });

  test('has a multipart form with files for binary fields', async () => {
    const schema = {
      required: ['file', 'many', 'note', 'meta', 'list'],
      properties: {
        file: { type: 'string', format: 'binary' },
        many: { type: 'array', items: { type: 'string', format: 'binary' } },
        note: { example: '@home; now' },
        meta: { example: { a: 'b;"c"' } },
        list: { type: 'array', example: ['<x', 'y'] },
      },
    };
    for (const { headers, body } of await call(buildBody('multipart/form-data', { schema }))) {
      const form = await new Response(body, {
        headers: { 'content-type': headers['content-type'] ?? '' },
      }).formData();
      const fields = await Promise.all(
        [...form].map(async ([name, value]) => [
          name,
          typeof value === 'string' ? value : await value.text(),
        ]),
      );
      expect(fields).toEqual([
        ['file', 'some bytes'],
        ['many', 'some bytes'],
        ['note', '@home; now'],
        ['meta', '{"a":"b;\\"c\\""}'],
        ['list', '<x'],
        ['list', 'y'],
      ]);
      expect(body).toMatch(/name="meta"[\s\S]*?application\/json/);
    }
  });
});

test('a text of the document never becomes a command', async () => {
  const evil = '`touch EVIL`$(touch EVIL)"\'';
  await call(
    {
      parameters: [{ name: 'q', in: 'query', required: true, example: evil }],
      security: [{ k: [] }],
      requestBody: { required: true, content: { 'application/json': { example: { [evil]: evil } } } },
    },
    { components: { securitySchemes: { k: { type: 'apiKey', in: 'cookie', name: `c\`touch EVIL\`` } } } },
  );
  await expect(run('ls', ['EVIL'], { cwd: folder })).rejects.toThrow();
});
