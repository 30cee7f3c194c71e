/** Options through the API: sources of values, validation, arguments of the app, and visibility by role. */
import type { ExecutableOptions } from '@switchyard/contract/applications/executables.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Prints its command-line arguments. */
const ECHO_ARGUMENTS: Files = {
  'main.mjs': 'console.log(JSON.stringify({ arguments: process.argv.slice(2) }));',
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(server, 'free', ECHO_ARGUMENTS);
});
afterAll(() => server.close());

const pushWithOptions = (application: string, options: ExecutableOptions): Promise<void> =>
  pushApp(server, application, ECHO_ARGUMENTS, { options });

const requestRun = (application: string, options: unknown, token?: string) =>
  server.request('POST', `/v1/applications/${application}/runs`, {
    body: { options },
    ...(token ? { token } : {}),
  });

async function runAndReadArguments(application: string, options: Record<string, unknown>, instance?: string) {
  const run = await createRunAndWait(server, application, {
    body: { options },
    ...(instance ? { instance } : {}),
  });
  expect(run.error).toBe('');
  return { run, received: (run.output as { arguments: string[] }).arguments };
}

test('values of the run override those of the instance, which override those of the version', async () => {
  await pushWithOptions('layers', {
    items: [
      { name: 'a', option_type: 'int', default: 1 },
      { name: 'b', option_type: 'int', default: 1 },
      { name: 'c', option_type: 'int', default: 1 },
      { name: 'none', option_type: 'string' },
    ],
  });
  const params = { application_id: 'layers' };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
  await server.client.call('createInstance', {
    params,
    body: {
      id: 'one',
      name: 'One',
      version_id: 'v1',
      configuration: { options: { b: '2', c: '2', d: '2' } },
    },
  });
  const { run, received } = await runAndReadArguments('layers', { c: '3', e: '3' }, 'one');
  expect(received).toEqual(['-a', '1', '-b', '2', '-c', '3', '-d', '2', '-e', '3']);
  expect(run.metadata.options).toEqual({
    options_summary: [
      { name: 'a', value: '1', source: 'version' },
      { name: 'b', value: '2', source: 'instance' },
      { name: 'c', value: '3', source: 'run' },
      { name: 'd', value: '2', source: 'instance' },
      { name: 'e', value: '3', source: 'run' },
    ],
    active_options: { a: '1', b: '2', c: '3', d: '2', e: '3' },
    request_options: { c: '3', e: '3' },
  });
  const { body } = await server.client.call('listRuns', { params });
  expect(body.runs[0]).toMatchObject({
    options: { a: '1', b: '2', c: '3', d: '2', e: '3' },
    request_options: { c: '3', e: '3' },
  });
});

test('numbers and booleans become text; names may contain letters, digits and periods', async () => {
  const { run, received } = await runAndReadArguments('free', {
    'solve.duration': 10,
    ratio: 0.5,
    Fast: true,
    text: '',
  });
  expect(received).toEqual(['-solve.duration', '10', '-ratio', '0.5', '-Fast', 'true', '-text', '']);
  expect(run.metadata.options.request_options).toEqual({
    'solve.duration': '10',
    ratio: '0.5',
    Fast: 'true',
    text: '',
  });
});

test.each([
  [{ 'a-b': '1' }],
  [{ a_b: '1' }],
  [{ '': '1' }],
  [{ ä: '1' }],
  [{ 'a b': '1' }],
  [{ a: { b: 1 } }],
  [{ a: [1] }],
  [{ a: null }],
  [{ a: 'x\u0000y' }],
  [{ ['a'.repeat(129)]: '1' }],
  [{ a: 'x'.repeat(8193) }],
  [Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`o${index}`, '1']))],
  ['text'],
])('invalid options get a 400: %j', async (options) => {
  const response = await requestRun('free', options);
  expect(response.status).toBe(400);
  expect((response.body as { error: string }).error).toContain('options');
});

describe('options that are too long together', () => {
  const createOptions = (chars: number, names = 7): Record<string, string> => {
    const empty = Object.fromEntries(Array.from({ length: names }, (_, index) => [`o${index}`, '']));
    const valueChars = Math.floor((chars - JSON.stringify(empty).length) / names);
    const firstValueChars = chars - JSON.stringify(empty).length - valueChars * (names - 1);
    return Object.fromEntries(
      Object.keys(empty).map((name, index) => [name, 'x'.repeat(index === 0 ? firstValueChars : valueChars)]),
    );
  };

  test('get a 400, by their length as JSON text', async () => {
    const external = { configuration: { run_type: { type: 'external' } } };
    const post = (options: unknown) =>
      server.request('POST', '/v1/applications/free/runs', { body: { ...external, options } });
    expect((await post(createOptions(65_536, 9))).status).toBe(202);
    expect((await post({ a: '\u0001'.repeat(8000) })).status).toBe(202);
    for (const options of [
      createOptions(65_537, 9),
      { a: '\u0001'.repeat(8000), b: '\u0001'.repeat(8000) },
    ]) {
      const response = await post(options);
      expect(response.status).toBe(400);
      expect(response.text).toContain('65536');
    }
  });

  test('get a 400, also when only those of version, instance and run together are too long', async () => {
    const createLongOptions = (name: string) =>
      Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`${name}${n}`, 'x'.repeat(8000)]));
    await pushWithOptions('long-default', { items: [{ name: 'text', default: 'x'.repeat(30_000) }] });
    expect((await requestRun('long-default', { ...createLongOptions('a'), text: '' })).status).toBe(202);
    const response = await requestRun('long-default', createLongOptions('a'));
    expect(response.status).toBe(400);
    expect(response.text).toContain('together');
  });
});

describe('the rules of an app', () => {
  beforeAll(async () => {
    await pushWithOptions('strict', { strict: true, items: [{ name: 'known' }, { name: 'other' }] });
    const items: ExecutableOptions['items'] = [
      { name: 'count', option_type: 'int', required: true, additional_attributes: { min: 1, max: 10 } },
      { name: 'ratio', option_type: 'float', additional_attributes: { min: 0, max: 1 } },
      { name: 'fast', option_type: 'bool' },
      { name: 'mode', option_type: 'string', additional_attributes: { values: ['quick', 'thorough'] } },
    ];
    await pushWithOptions('enforced', { validation: { enforce: 'all' }, items });
    await pushWithOptions('lenient', { validation: { enforce: 'none' }, items });
  });

  test('allow only listed options when they are strict; the error names the option and the listed ones', async () => {
    expect((await requestRun('strict', { known: '1' })).status).toBe(202);
    const response = await requestRun('strict', { unknown: '1' });
    expect(response.status).toBe(400);
    expect((response.body as { error: string }).error).toMatch(/unknown.*known, other/);
    expect((await requestRun('free', { unknown: '1' })).status).toBe(202);
  });

  test.each([
    [{ count: 1 }, 202],
    [{ count: '10', ratio: '0.5', fast: 'TRUE', mode: 'quick', extra: 'x' }, 202],
    [{ count: '+3', ratio: 1, fast: false }, 202],
    [{}, 400, 'count'],
    [{ count: 0 }, 400, 'count'],
    [{ count: 11 }, 400, 'count'],
    [{ count: 1.5 }, 400, 'count'],
    [{ count: 'many' }, 400, 'count'],
    [{ count: '' }, 400, 'count'],
    [{ count: 1, ratio: 1.01 }, 400, 'ratio'],
    [{ count: 1, ratio: 'nan' }, 400, 'ratio'],
    [{ count: 1, ratio: '' }, 400, 'ratio'],
    [{ count: 1, fast: 'yes' }, 400, 'fast'],
    [{ count: 1, fast: 1 }, 400, 'fast'],
    [{ count: 1, mode: 'slow' }, 400, 'mode'],
  ] as [Record<string, unknown>, number, string?][])(
    'validate %j when they are enforced: %i',
    async (options, status, invalidOption) => {
      const response = await requestRun('enforced', options);
      expect(response.status).toBe(status);
      if (invalidOption)
        expect((response.body as { error: string }).error).toContain(`options.${invalidOption}`);
      expect((await requestRun('lenient', options)).status).toBe(202);
    },
  );
});

test('the template of the app formats its arguments', async () => {
  await pushWithOptions('template', {
    format: { template: ['--{{name}}={{value}}', '{{value}}-{{value}}', 'fixed'] },
  });
  const { received } = await runAndReadArguments('template', { a: '$& {{name}}', b: 2 });
  expect(received).toEqual(['--a=$& {{name}}', '$& {{name}}-$& {{name}}', 'fixed', '--b=2', '2-2', 'fixed']);
});

test('an option that is hidden from a role is in no response to that role, and reaches the app', async () => {
  await pushWithOptions('hiding', {
    strict: true,
    items: [
      { name: 'open', default: 'o' },
      { name: 'secret', default: 's', ui: { hidden_from: ['operator'] } },
    ],
  });
  const { run, received } = await runAndReadArguments('hiding', { secret: 'S3CRET' });
  expect(received).toEqual(['-open', 'o', '-secret', 'S3CRET']);
  expect(run.metadata.options.active_options).toEqual({ open: 'o', secret: 'S3CRET' });
  const { token } = await server.createKey('operator');
  for (const path of [`/runs/${run.id}/metadata`, `/runs/${run.id}`, '/runs']) {
    const response = await server.request('GET', `/v1/applications/hiding${path}`, { token });
    expect(response.status).toBe(200);
    const withoutOutput = response.text.replace(JSON.stringify(run.output), '');
    expect(withoutOutput).toContain('"open"');
    expect(withoutOutput).not.toContain('secret"');
    expect(withoutOutput).not.toContain('S3CRET');
  }
  const refused = await requestRun('hiding', { wrong: '1' }, token);
  expect(refused.status).toBe(400);
  expect(refused.text).not.toContain('secret');
});

test('the error about a hidden option names neither the option nor its value', async () => {
  const ui = { hidden_from: ['operator' as const] };
  const { token } = await server.createKey('operator');
  await pushWithOptions('hidden-needed', {
    validation: { enforce: 'all' },
    items: [{ name: 'secretname', required: true, ui }],
  });
  await pushWithOptions('hidden-bounds', {
    validation: { enforce: 'all' },
    items: [{ name: 'secretname', option_type: 'int', default: 'S3CRET', ui }],
  });
  for (const application of ['hidden-needed', 'hidden-bounds']) {
    const refused = await requestRun(application, {}, token);
    expect(refused.status).toBe(400);
    expect(refused.text).not.toMatch(/secretname|S3CRET/);
    expect((await requestRun(application, {})).text).toContain('options.secretname');
  }
});
