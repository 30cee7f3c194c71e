/** The packed command line on a machine that has only Node 20: installed by npm without a network, used over TLS. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCommandLine } from '../build.ts';
import { findOldNode, runWithNode } from '../testing/old-node.ts';

/** Functions that came after Node 20, and that the bundle does not bring along. */
const MISSING = [
  /\bArray\.fromAsync\b/,
  /\bObject\.groupBy\b/,
  /\bPromise\.try\b/,
  /\bRegExp\.escape\b/,
  /\bIterator\.(from|concat|zip)\b/,
  /\bError\.isError\b/,
  /\bMath\.sumPrecise\b/,
  /\bimport\.meta\.main\b/,
  /\.(isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference)\(/,
  /\.(toBase64|toHex)\(|\b(fromBase64|fromHex)\(/,
  /\.(values|keys|entries)\(\)\.(map|filter|take|drop|flatMap|reduce|toArray|some|every|find)\(/,
];
const ENTRY_POINTS = ['switchyard', 'launcher', 'read-results-thread', 'loopback-forwarder'];

const oldNode = findOldNode();
if (!oldNode) console.warn('SKIPPING the packed command line: there is no Node 20 with npm in the PATH.');

describe.skipIf(!oldNode)('the packed command line on Node 20', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-package-'));
  const installed = join(folder, 'lib', 'node_modules', 'switchyard');
  const switchyard = join(folder, 'bin', 'switchyard');
  const config = join(folder, 'config');
  const run = (command: string[], input = '', env: Record<string, string> = {}) =>
    runWithNode(oldNode ?? '', command, {
      cwd: folder,
      input,
      env: { SWITCHYARD_CONFIG: config, NODE_COMPILE_CACHE: join(folder, 'cache'), ...env },
    });

  beforeAll(async () => {
    const { tarball } = await buildCommandLine();
    const flags = ['--offline', '--no-audit', '--no-fund', '--prefix', folder];
    const { code, stderr } = await run(['npm', 'install', '--global', ...flags, tarball]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has no dependencies, and passes on the licences of what it contains', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'switchyard',
      license: 'Apache-2.0',
      engines: { node: '>=20.12' },
    });
    expect(manifest.dependencies).toBeUndefined();
    const names = readdirSync(installed);
    expect(names).not.toContain('node_modules');
    expect(names).toEqual(expect.arrayContaining(['app.schema.json', 'switchyard.schema.json']));
    const licenses = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'typebox', 'yaml', 'tar-stream'])
      expect(licenses).toMatch(new RegExp(`^${name} \\d.*\\n\\n\\S`, 'm'));
    // Its licence, the MPL, demands the address of its source code.
    expect(licenses).toMatch(
      /^@jmespath-community\/jmespath .* source code: https:\/\/github\.com\/jmespath-community\/\S+$/m,
    );
  });

  test('uses no function that Node 20 lacks', async () => {
    const lib = join(installed, 'lib');
    const names = readdirSync(lib);
    for (const name of names) {
      const code = readFileSync(join(lib, name), 'utf8');
      for (const missing of MISSING) expect(code, `${name} uses ${missing}`).not.toMatch(missing);
    }
    // Loading a part links it with the modules of Node. The entry points do something at once; other tests run them.
    const parts = names.filter((name) => !ENTRY_POINTS.some((entry) => name === `${entry}.js`));
    const script = parts.map((name) => `await import(${JSON.stringify(join(lib, name))});`).join('\n');
    const load = ['node', '--input-type=module', '--eval', script];
    expect(await run(load)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('prints its version and the help of a command', async () => {
    const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(await run([switchyard, '--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect((await run([switchyard, 'help', 'push'])).stdout).toContain('Example');
  });

  test('writes an app from a template and runs it by its own launcher', async () => {
    expect((await run([switchyard, 'init', 'boxes', '--template', 'node'])).code).toBe(0);
    const { code, stdout } = await run([switchyard, 'dev', 'boxes', '--json', '--option', 'duration=60']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status_v2: 'succeeded',
      output: { options: { duration: 60 } },
    });
    expect((await run([switchyard, 'dev', 'boxes', '--quiet'])).stdout).toBe('12\n');
  });

  test('signs in to a server with a self-signed certificate, and pushes an app', async () => {
    await using server = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' } });
    const authority = join(server.dataFolder, 'tls', 'authority.pem');
    const app = join(folder, 'doubling');
    mkdirSync(join(app, 'data'), { recursive: true });
    writeFileSync(
      join(app, 'app.yaml'),
      'type: binary\nruntime: ghcr.io/nextmv-io/runtime/default:latest\nfiles: [main, "data/*.txt", "!data/no*"]\n',
    );
    writeFileSync(join(app, 'main'), '#!/bin/sh\necho "{}"\n', { mode: 0o755 });
    for (const name of ['one.txt', 'none.txt']) writeFileSync(join(app, 'data', name), name);

    const login = [switchyard, 'login', '--url', server.url, '--token-stdin'];
    expect(await run(login, server.token)).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('not trusted'),
    });
    expect(await run([...login, '--authority', authority], server.token)).toMatchObject({
      code: 0,
      stderr: '',
    });
    const pushed = await run([switchyard, 'push', app, '--json']);
    expect(pushed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(pushed.stdout)).toMatchObject({ application_id: 'doubling', files: 3 });
    expect((await run([switchyard, 'runs', '--app', 'doubling'])).stdout).toContain('no such runs');
  });
});
