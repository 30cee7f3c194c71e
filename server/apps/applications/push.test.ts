/** The push of an executable in three steps, as published clients do it. */
import { existsSync } from 'node:fs';
import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { Executable } from '@switchyard/contract/applications/executables.ts';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRunAndWait,
  nodeApp,
  packEntries,
  packFiles,
  pushArchive,
} from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createVersion,
  expectError,
  expectStatus,
  MANIFEST,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const node = { executable_type: 'node', runtime: 'node' };
const getApp = async (id: string) =>
  (await server.request('GET', `/v1/applications/${id}`)).body as Application & {
    active_executable: Executable | null;
  };
const requestUpload = async (id: string): Promise<Upload> => {
  const response = await server.request('GET', `/v1/applications/${id}/binary`);
  expectStatus(response, 200);
  return response.body as Upload;
};
const put = (url: string, body: Uint8Array, headers: Record<string, string> = {}) =>
  server.request('PUT', url, { token: null, body, headers });
const activate = (id: string, body: unknown = { requirements: node }) =>
  server.request('PUT', `/v1/applications/${id}/binary`, { body });
const packApp = (response: unknown, manifest = MANIFEST, folder = 'src') =>
  packFiles({
    'app.yaml': manifest,
    'main.py': '',
    [`${folder}/main.mjs`]: '',
    ...nodeApp(`() => (${JSON.stringify({ answer: response })})`),
  });

describe('a push', () => {
  test.each([
    ['application/gzip', { executable_type: 'python', runtime: 'ghcr.io/nextmv-io/runtime/python:3.11' }],
    ['application/octet-stream', node],
  ])('takes three steps, with the content type %s and no token in the second', async (type, requirements) => {
    const id = await createApplication(server);
    const { upload_id, upload_url } = await requestUpload(id);
    expect(upload_id).toMatch(/^[a-z0-9-]+$/);
    expect(upload_url.startsWith(`${server.url}/v1/uploads/`)).toBe(true);
    expectStatus(await put(upload_url, await packApp(1), { 'content-type': type }), 200);
    const response = await activate(id, { requirements });
    expectStatus(response, 200);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^exe-/),
      user_email: 'root@localhost',
      uploaded_at: expect.stringMatching(/Z$/),
      requirements,
    });
    expect((await getApp(id)).active_executable).toEqual(response.body);
  });

  test('becomes the executable of latest at once', async () => {
    const id = await createApplication(server);
    expectStatus(await pushArchive(server, id, await packApp('first')), 200);
    expect((await createRunAndWait(server, id)).output).toEqual({ answer: 'first' });
    expectStatus(await pushArchive(server, id, await packApp('second')), 200);
    expect((await createRunAndWait(server, id)).output).toEqual({ answer: 'second' });
  });

  test('activates the upload of the last URL, however quickly the URLs were requested', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await createApplication(server);
      const urls = [await requestUpload(id), await requestUpload(id), await requestUpload(id)];
      for (const [index, { upload_url }] of urls.entries())
        expectStatus(
          await put(
            upload_url,
            await packApp(index, `${MANIFEST}execution: {cwd: w${index}}\n`, `w${index}`),
          ),
          200,
        );
      const response = await activate(id);
      expect((response.body as Executable).requirements.working_directory).toBe('w2');
    }
  });

  test('can name its upload', async () => {
    const id = await createApplication(server);
    const first = await requestUpload(id);
    await put(first.upload_url, await packApp(1));
    await requestUpload(id);
    expectError(await activate(id), 400, 'nothing has been PUT');
    expectStatus(await activate(id, { requirements: node, upload_id: first.upload_id }), 200);
  });

  test('succeeds again when a client repeats the third step', async () => {
    const id = await createApplication(server);
    expectStatus(await pushArchive(server, id, await packApp(1)), 200);
    expectStatus(await activate(id), 200);
  });
});

describe('400 for an activation', () => {
  test('before any upload, with nothing changed', async () => {
    const id = await createApplication(server);
    expectError(await activate(id), 400, 'No executable was uploaded');
    await requestUpload(id);
    expectError(await activate(id), 400, 'nothing has been PUT');
    expect((await getApp(id)).active_executable).toBeNull();
  });

  test('of an upload of another application, of a run, or of none', async () => {
    const id = await createApplication(server);
    const other = await requestUpload(await createApplication(server));
    await put(other.upload_url, await packApp(1));
    const forRuns = (await server.request('POST', `/v1/applications/${id}/runs/uploadurl`)).body as Upload;
    await put(forRuns.upload_url, await packApp(1));
    for (const upload_id of [other.upload_id, forRuns.upload_id, 'upl-missing', '']) {
      expectError(await activate(id, { requirements: node, upload_id }), 400, 'upload_id is ');
    }
    expectError(await activate(id, { requirements: node, upload_id: 'a\0' }), 400, 'NUL');
  });

  test.each([
    [{}, 'requirements is missing'],
    [{ requirements: {} }, 'requirements.executable_type is missing'],
    [{ requirements: { ...node, executable_type: 'cobol' } }, 'requirements.executable_type is "cobol"'],
    [{ requirements: { ...node, runtime: 'ab' } }, '3 to 256 characters'],
    [{ requirements: { ...node, runtime: 'x'.repeat(257) } }, '3 to 256 characters'],
    [{ requirements: { ...node, options: { items: [{}] } } }, 'requirements.options.items.0.name is missing'],
    [{ requirements: { ...node, options: { strict: 'yes' } } }, 'requirements.options.strict is "yes"'],
    [
      { requirements: { ...node, options: { items: [{ name: 'a', ui: { hidden_from: ['king'] } }] } } },
      'hidden_from.0 is "king"',
    ],
    [
      { requirements: { ...node, options: { format: { template: ['{{value}}'.repeat(29)] } } } },
      'template.0 is',
    ],
    [
      { requirements: { ...node, options: { format: { template: Array(17).fill('{{value}}') } } } },
      'template has 17 items',
    ],
    [{ requirement: node }, 'did you mean "requirements"'],
  ])('with the body %j', async (body, words) => {
    const id = await createApplication(server);
    const { upload_url } = await requestUpload(id);
    await put(upload_url, await packApp(1));
    expectError(await activate(id, body), 400, words);
  });

  test('whose options are too deep or too long', async () => {
    const id = await createVersion(server);
    const before = await getApp(id);
    const items = (inner: string) =>
      `{"requirements":{"executable_type":"node","runtime":"node","options":{"items":[{"name":"a","default":${inner}}]}}}`;
    for (const depth of [100, 10_000, 90_000]) {
      const response = await activate(id, items(`${'['.repeat(depth)}${']'.repeat(depth)}`));
      expectError(response, 400, 'nested deeper');
    }
    expectError(await activate(id, items(`"${'x'.repeat(1_100_000)}"`)), 400, 'longer than');
    expect(await getApp(id)).toEqual(before);
  });
});

describe('the manifest', () => {
  const manifest = `${MANIFEST}
execution: {entrypoint: ./main.mjs, cwd: ./src/}
configuration:
  options:
    strict: true
    validation: {enforce: all}
    items:
      - {name: duration, type: int, default: 5, required: true, additional_attributes: {min: 1}}
      - {name: mode, option_type: string, ui: {control_type: select, hidden_from: [operator, viewer]}}
      - {name: plain}
    format: ["--{{name}}={{value}}"]
  content:
    format: multi-file
    multi-file:
      input: {path: in}
      output: {statistics: s.json, metrics: m.json, assets: a.json, solutions: out}
`;

  test('completes fields that are absent from the activation', async () => {
    const id = await createApplication(server);
    const response = await pushArchive(server, id, await packApp(1, manifest));
    expectStatus(response, 200);
    expect((response.body as Executable).requirements).toEqual({
      ...node,
      entrypoint: './main.mjs',
      working_directory: './src/',
      options: {
        strict: true,
        validation: { enforce: 'all' },
        items: [
          {
            name: 'duration',
            option_type: 'int',
            default: 5,
            required: true,
            additional_attributes: { min: 1 },
          },
          {
            name: 'mode',
            option_type: 'string',
            ui: { control_type: 'select', hidden_from: ['operator', 'viewer'] },
          },
          { name: 'plain', option_type: 'string' },
        ],
        format: { template: ['--{{name}}={{value}}'] },
      },
      io_configuration: {
        format: 'multi-file',
        multi_file: {
          input_path: 'in',
          output_configuration: {
            statistics_path: 's.json',
            metrics_path: 'm.json',
            assets_path: 'a.json',
            solutions_path: 'out',
          },
        },
      },
    });
  });

  test('is overridden by fields of the activation', async () => {
    const id = await createApplication(server);
    const overrides = {
      options: { strict: false, items: [{ name: 'other', option_type: 'bool' }] },
      io_configuration: { format: 'json' },
      entrypoint: 'src/main.mjs',
    };
    const response = await pushArchive(server, id, await packApp(1, manifest), {
      requirements: { ...node, ...overrides, unknown: 1 },
    });
    expect((response.body as Executable).requirements).toEqual({
      ...node,
      ...overrides,
      working_directory: './src/',
    });
  });

  test('hides definitions of options from the roles it lists, in every response', async () => {
    const id = await createApplication(server);
    expectStatus(await pushArchive(server, id, await packApp(1, manifest)), 200);
    const body = { id: 'v1', name: 'Version one' };
    expectStatus(await server.request('POST', `/v1/applications/${id}/versions`, { body }), 201);
    const places = ['', '/versions', '/versions/v1'].map((path) => `/v1/applications/${id}${path}`);
    for (const role of ['operator', 'viewer', 'developer', 'admin'] as const) {
      const { token } = await server.createKey(role);
      const hidden = role === 'operator' || role === 'viewer';
      for (const place of [...places, '/v1/applications']) {
        const { text } = await server.request('GET', place, { token });
        expect(text).toContain('"name":"duration"');
        expect(text.includes('"name":"mode"'), `${role} at ${place}`).toBe(!hidden);
      }
    }
  });
});

describe('executables that cannot start', () => {
  test.each([
    ['an entry point', 'python', '', 'The executable has no entry point "main.py" for type python'],
    ['a working directory', 'node', 'execution: {cwd: ./plans/}', 'directory "plans" is not in the'],
    ['a folder inside', 'node', 'execution: {cwd: ../plans}', '"../plans" is outside the executable'],
  ])('are refused without %s, and nothing changes', async (_, type, execution, message) => {
    const id = await createVersion(server);
    const before = await getApp(id);
    const text = `type: ${type}\nruntime: ${type}\n${execution}\n`;
    const archive = await packFiles({ 'app.yaml': text, 'main.mjs': '' });
    const requirements = { executable_type: type, runtime: 'any' };
    expectError(await pushArchive(server, id, archive, { requirements }), 400, message);
    expect(await getApp(id)).toEqual(before);
  });

  test('have a warning when the Python packages of the manifest are not packed', async () => {
    const id = await createApplication(server);
    const push = async (python: string, more: Record<string, string> = {}) => {
      const text = `type: python\nruntime: python:3\nfiles: ["**"]\npython: {${python}}\n`;
      const archive = await packFiles({ 'app.yaml': text, 'main.py': '', ...more });
      const requirements = { executable_type: 'python', runtime: 'python:3' };
      const response = await pushArchive(server, id, archive, { requirements });
      expectStatus(response, 200);
      return (response.body as { warnings?: string[] }).warnings;
    };
    const warning = expect.stringContaining('has no packages in .nextmv/python/deps/');
    for (const python of ['pip-requirements: requirements.txt', 'pip-requirements: [numpy]'])
      expect(await push(python)).toEqual([warning]);
    expect(await push('pip-requirements: [vat]', { '.nextmv/python/deps/vat.py': '' })).toBeUndefined();
    for (const python of ['pip-requirements: []', 'pip-requirements: ""', 'arch: arm64'])
      expect(await push(python)).toBeUndefined();
  });

  test.each<[string, number, string]>([
    ['python: requirements.txt', 400, 'python is \\"requirements.txt\\"; it must be a map'],
    ['execution: {entrypoint: [main]}', 400, 'execution.entrypoint is a JSON array of 1; it must be text'],
    ['configuration: null\nexecution: {entrypoint: null}', 200, 'exe-'],
    [
      'excution: {entrypoint: main}',
      200,
      'excution is not a field of the manifest and has no effect; did you mean execution?',
    ],
    [
      'entrypoint: main.mjs',
      200,
      'entrypoint is not a field of the manifest and has no effect; did you mean execution.entrypoint?',
    ],
    ['python: {model: {name: m}, version: 3.11}\nbuild: {environment: {A: 1}}', 200, 'exe-'],
  ])('W7: a manifest with %j gets %d', async (fields, status, words) => {
    const id = await createApplication(server);
    const archive = await packFiles({ 'app.yaml': `${MANIFEST}${fields}\n`, 'main.mjs': '' });
    const response = await pushArchive(server, id, archive);
    expectStatus(response, status);
    expect(response.text).toContain(words);
    expect(response.text.includes('warnings')).toBe(words.includes('not a field'));
  });

  test('set the objective and the meaning of indicators, and say when they change the objective', async () => {
    const id = await createApplication(server);
    const push = async (fields: string) => {
      const archive = await packFiles({ 'app.yaml': `${MANIFEST}${fields}\n`, 'main.mjs': '' });
      const response = await pushArchive(server, id, archive);
      expectStatus(response, 200);
      const { body } = await server.request('GET', `/v1/applications/${id}`);
      return { warnings: (response.body as { warnings?: string[] }).warnings, body };
    };
    const first = 'objective: {name: cost, direction: minimize}\nindicators: {late: {role: violation}}';
    const objective = { name: 'cost', direction: 'minimize' };
    const indicators = { late: { role: 'violation' } };
    expect(await push(first)).toMatchObject({ warnings: undefined, body: { objective, indicators } });
    expect(await push('')).toMatchObject({ warnings: undefined, body: { objective, indicators } });
    expect(await push('objective: {name: profit, direction: maximize}')).toMatchObject({
      warnings: [
        'The objective of the application was to minimize "cost"; app.yaml changes it to maximize "profit".',
      ],
      body: { objective: { name: 'profit', direction: 'maximize' }, indicators },
    });
  });

  test('start in an empty folder of the archive', async () => {
    const id = await createApplication(server);
    const archive = await packEntries([
      { name: 'app.yaml', content: `${MANIFEST}execution: {cwd: plans}\n` },
      { name: 'plans/', type: 'directory' },
      { name: 'main.mjs', content: 'console.log(JSON.stringify({ at: process.cwd() }))' },
    ]);
    expectStatus(await pushArchive(server, id, archive), 200);
    const { output } = await createRunAndWait(server, id, { input: {} });
    expect(output).toEqual({ at: expect.stringMatching(/\/plans$/) });
  });
});

describe('executables that the host cannot run', () => {
  const host = async () => (await server.client.call('getReadiness')).body.runtimes;
  /** Returns the ELF header of a shared object for another processor than the host's. */
  const foreignElf = (): Buffer => {
    const head = Buffer.alloc(200);
    head.write('\x7fELF\x02\x01\x01', 'latin1');
    head.writeUInt16LE(process.arch === 'x64' ? 183 : 62, 18);
    return head;
  };

  test('B8: packages for another processor are refused at the push, with the remedy', async () => {
    const id = await createVersion(server);
    const before = await getApp(id);
    const archive = await packFiles({
      'app.yaml': 'type: python\nruntime: python:3\nfiles: ["**"]\n',
      'main.py': '',
      '.nextmv/python/deps/numpy/_core/umath.so': foreignElf(),
    });
    const python = { requirements: { executable_type: 'python', runtime: 'python:3' } };
    const response = await pushArchive(server, id, archive, python);
    const platform = (await host()).binary?.version;
    const repair = platform?.startsWith('linux') ? 'Set python.arch: a' : 'npm run push';
    expectError(response, 400, `"numpy" is built for linux-`);
    expectError(response, 400, `this server runs ${platform}. `);
    expectError(response, 400, repair);
    expect(await getApp(id)).toEqual(before);
    const program = await packFiles({ 'app.yaml': 'type: binary\n', main: foreignElf() });
    const binary = { requirements: { executable_type: 'binary', runtime: 'default' } };
    expectError(await pushArchive(server, id, program, binary), 400, 'The entry point "main" is built for');
  });

  test('S9: the push says which solvers of the image the host lacks', async (context) => {
    if (existsSync('/usr/bin/cbc')) return context.skip('SKIPPING solvers of an image: this host has CBC.');
    const runtime = 'ghcr.io/nextmv-io/runtime/pyomo:latest';
    const archive = await packFiles({ 'app.yaml': `type: python\nruntime: ${runtime}\n`, 'main.py': '' });
    const requirements = { executable_type: 'python', runtime };
    const response = await pushArchive(server, await createApplication(server), archive, { requirements });
    expect(response.body).toMatchObject({ warnings: [expect.stringContaining('lacks: CBC (cbc)')] });
  });

  test('B9: the push and the run report another version of the runtime', async () => {
    const node = (await host()).node?.version;
    const id = await createApplication(server);
    const source = '(input) => { if (input.fails) process.exit(3); return {}; }';
    const archive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp(source) });
    const requireRuntime = (runtime: string) => ({ requirements: { executable_type: 'node', runtime } });
    const own = await pushArchive(server, id, archive, requireRuntime(`node:${node?.split('.')[0]}`));
    expectStatus(own, 200);
    expect(own.body).not.toHaveProperty('warnings');
    const warning = `runtime is "node:4"; this server runs the app with Node ${node}.`;
    const other = await pushArchive(server, id, archive, requireRuntime('node:4'));
    expect(other.body).toMatchObject({ warnings: [warning] });
    const good = await createRunAndWait(server, id, { input: {} });
    expect(good.metadata).toMatchObject({ runtime: 'node:4', runtime_version: node, error: '' });
    const bad = await createRunAndWait(server, id, { input: { fails: true } });
    expect(bad.metadata.error).toMatch(/exit code 3/);
    expect(bad.metadata.error).toContain(` Note: ${warning}`);
  });
});
