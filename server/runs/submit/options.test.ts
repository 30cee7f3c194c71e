/** Options through the front door: where values come from, which are refused, how they reach the app, who sees them. */
import type { ExecutableOptions } from '@switchyard/contract/applications/executables.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Answers the arguments it was started with. */
const ARGUMENTS: Files = {
  'main.mjs': 'console.log(JSON.stringify({ arguments: process.argv.slice(2) }));',
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(server, 'free', ARGUMENTS);
});
afterAll(() => server.close());

const define = (application: string, options: ExecutableOptions): Promise<void> =>
  pushApp(server, application, ARGUMENTS, { options });

const ask = (application: string, options: unknown, token?: string) =>
  server.request('POST', `/v1/applications/${application}/runs`, {
    body: { options },
    ...(token ? { token } : {}),
  });

async function argumentsOf(application: string, options: Record<string, unknown>, instance?: string) {
  const run = await createRunAndWait(server, application, {
    body: { options },
    ...(instance ? { instance } : {}),
  });
  expect(run.error).toBe('');
  return { run, given: (run.output as { arguments: string[] }).arguments };
}

test('values come from the version, over it the instance, over it the run', async () => {
  await define('layers', {
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
  const { run, given } = await argumentsOf('layers', { c: '3', e: '3' }, 'one');
  expect(given).toEqual(['-a', '1', '-b', '2', '-c', '3', '-d', '2', '-e', '3']);
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

test('numbers and booleans become text; names may hold letters, digits and periods', async () => {
  const { run, given } = await argumentsOf('free', {
    'solve.duration': 10,
    ratio: 0.5,
    Fast: true,
    text: '',
  });
  expect(given).toEqual(['-solve.duration', '10', '-ratio', '0.5', '-Fast', 'true', '-text', '']);
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
  [Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`o${n}`, '1']))],
  ['text'],
])('options that cannot be are refused: %j', async (options) => {
  const answer = await ask('free', options);
  expect(answer.status).toBe(400);
  expect((answer.body as { error: string }).error).toContain('options');
});

describe('options that are too long together', () => {
  const filled = (chars: number, names = 7): Record<string, string> => {
    const empty = Object.fromEntries(Array.from({ length: names }, (_, n) => [`o${n}`, '']));
    const each = Math.floor((chars - JSON.stringify(empty).length) / names);
    const rest = chars - JSON.stringify(empty).length - each * (names - 1);
    return Object.fromEntries(Object.keys(empty).map((name, n) => [name, 'x'.repeat(n === 0 ? rest : each)]));
  };

  test('are refused, as JSON counts them', async () => {
    const external = { configuration: { run_type: { type: 'external' } } };
    const post = (options: unknown) =>
      server.request('POST', '/v1/applications/free/runs', { body: { ...external, options } });
    expect((await post(filled(65_536, 9))).status).toBe(202);
    expect((await post({ a: '\u0001'.repeat(8000) })).status).toBe(202);
    for (const options of [filled(65_537, 9), { a: '\u0001'.repeat(8000), b: '\u0001'.repeat(8000) }]) {
      const answer = await post(options);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('65536');
    }
  });

  test('are refused when only those of version, instance and run together are', async () => {
    const half = (name: string) =>
      Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`${name}${n}`, 'x'.repeat(8000)]));
    await define('wordy', { items: [{ name: 'text', default: 'x'.repeat(30_000) }] });
    expect((await ask('wordy', { ...half('a'), text: '' })).status).toBe(202);
    const answer = await ask('wordy', half('a'));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('together');
  });
});

describe('rules of the app', () => {
  beforeAll(async () => {
    await define('strict', { strict: true, items: [{ name: 'known' }, { name: 'other' }] });
    const items: ExecutableOptions['items'] = [
      { name: 'count', option_type: 'int', required: true, additional_attributes: { min: 1, max: 10 } },
      { name: 'ratio', option_type: 'float', additional_attributes: { min: 0, max: 1 } },
      { name: 'fast', option_type: 'bool' },
      { name: 'mode', option_type: 'string', additional_attributes: { values: ['quick', 'thorough'] } },
    ];
    await define('enforced', { validation: { enforce: 'all' }, items });
    await define('lenient', { validation: { enforce: 'none' }, items });
  });

  test('strict allows only what is listed, and names the option and what is', async () => {
    expect((await ask('strict', { known: '1' })).status).toBe(202);
    const answer = await ask('strict', { unknown: '1' });
    expect(answer.status).toBe(400);
    expect((answer.body as { error: string }).error).toMatch(/unknown.*known, other/);
    expect((await ask('free', { unknown: '1' })).status).toBe(202);
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
    'enforce all: %j → %i',
    async (options, status, named) => {
      const answer = await ask('enforced', options);
      expect(answer.status).toBe(status);
      if (named) expect((answer.body as { error: string }).error).toContain(`options.${named}`);
      expect((await ask('lenient', options)).status).toBe(202);
    },
  );
});

test('the template of the app says how options are written', async () => {
  await define('template', {
    format: { template: ['--{{name}}={{value}}', '{{value}}-{{value}}', 'fixed'] },
  });
  const { given } = await argumentsOf('template', { a: '$& {{name}}', b: 2 });
  expect(given).toEqual(['--a=$& {{name}}', '$& {{name}}-$& {{name}}', 'fixed', '--b=2', '2-2', 'fixed']);
});

test('an option hidden from a role is nowhere in what that role reads, and reaches the app all the same', async () => {
  await define('hiding', {
    strict: true,
    items: [
      { name: 'open', default: 'o' },
      { name: 'secret', default: 's', ui: { hidden_from: ['operator'] } },
    ],
  });
  const { run, given } = await argumentsOf('hiding', { secret: 'S3CRET' });
  expect(given).toEqual(['-open', 'o', '-secret', 'S3CRET']);
  expect(run.metadata.options.active_options).toEqual({ open: 'o', secret: 'S3CRET' });
  const { token } = await server.createKey('operator');
  for (const path of [`/runs/${run.id}/metadata`, `/runs/${run.id}`, '/runs']) {
    const answer = await server.request('GET', `/v1/applications/hiding${path}`, { token });
    expect(answer.status).toBe(200);
    const withoutOutput = answer.text.replace(JSON.stringify(run.output), '');
    expect(withoutOutput).toContain('"open"');
    expect(withoutOutput).not.toContain('secret"');
    expect(withoutOutput).not.toContain('S3CRET');
  }
  const refused = await ask('hiding', { wrong: '1' }, token);
  expect(refused.status).toBe(400);
  expect(refused.text).not.toContain('secret');
});

test('a rule of a hidden option that is broken tells neither its name nor its value', async () => {
  const ui = { hidden_from: ['operator' as const] };
  const { token } = await server.createKey('operator');
  await define('hidden-needed', {
    validation: { enforce: 'all' },
    items: [{ name: 'secretname', required: true, ui }],
  });
  await define('hidden-bounds', {
    validation: { enforce: 'all' },
    items: [{ name: 'secretname', option_type: 'int', default: 'S3CRET', ui }],
  });
  for (const application of ['hidden-needed', 'hidden-bounds']) {
    const refused = await ask(application, {}, token);
    expect(refused.status).toBe(400);
    expect(refused.text).not.toMatch(/secretname|S3CRET/);
    expect((await ask(application, {})).text).toContain('options.secretname');
  }
});
