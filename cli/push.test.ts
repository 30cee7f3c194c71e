/** `npm run push` as its user: the program in a process of its own against a server, with an app in a folder. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packApp } from './pack.ts';

const PUSH = join(import.meta.dirname, 'push.ts');
const folder = mkdtempSync(join(tmpdir(), 'switchyard-push-'));
let server: TestServer;
let hasPip = false;
beforeAll(async () => {
  server = await startTestServer();
  const { body } = await server.client.call('getReadiness');
  hasPip = (body.runtimes.python?.available ?? false) && canUse(['-m', 'pip', '--version']);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function canUse(args: string[]): boolean {
  try {
    execFileSync('python3', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

type Files = Record<string, string>;

function appFolder(name: string, files: Files): string {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return join(folder, name);
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function push(path: string, id: string, env: Record<string, string> = {}): Promise<Ended> {
  const settings = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: folder,
    SWITCHYARD_URL: server.url,
    SWITCHYARD_TOKEN: server.token,
    SWITCHYARD_PACKAGE_CACHE: join(folder, 'cache'),
    ...env,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [PUSH, path, id], { env: settings }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}

const isThere = async (id: string): Promise<boolean> =>
  (await server.request('GET', `/v1/applications/${id}`)).status === 200;

const MAIN = `
import { readdirSync, readFileSync } from 'node:fs';
const files = readdirSync('.', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => \`\${entry.parentPath}/\${entry.name}\`.replace(/^\\.\\//, ''))
  .sort();
console.log(JSON.stringify({ files, made: files.includes('made.txt') ? readFileSync('made.txt', 'utf8') : '' }));
`;

describe('B5: folders and build steps of the manifest', () => {
  test('a folder in files stands for everything below it, and one with ! is removed', async () => {
    const path = appFolder('folders', {
      'app.yaml':
        'type: node\nruntime: node:26\nfiles:\n  - main.mjs\n  - data\n  - ./models/\n  - "!data/raw"\n',
      'main.mjs': MAIN,
      'data/a.json': '1',
      'data/deep/b.json': '2',
      'data/raw/c.json': '3',
      'models/m.txt': '4',
      'notes.txt': 'not named',
    });
    expect(await push(path, 'folders')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Pushed 5 files'),
    });
    const { output } = await createRunAndWait(server, 'folders', { input: {} });
    expect(output).toMatchObject({
      files: ['app.yaml', 'data/a.json', 'data/deep/b.json', 'main.mjs', 'models/m.txt'],
    });
  });

  test('build.command runs with its environment, then pre-push, and Go builds for the server', async () => {
    const path = appFolder('built', {
      'app.yaml': `type: node
runtime: node:26
files: [main.mjs, made.txt]
build:
  command: ${process.execPath} build.mjs
  environment: { GOOS: plan9, GOARCH: mips, COUNT: 3 }
pre-push: printf ' then %s' "$SWITCHYARD_TARGET" >> made.txt
`,
      'main.mjs': MAIN,
      'build.mjs': `
import { writeFileSync } from 'node:fs';
const { GOOS, GOARCH, COUNT } = process.env;
console.log('compiling');
writeFileSync('made.txt', [GOOS, GOARCH, COUNT].join(' '));
`,
    });
    const { code, stdout } = await push(path, 'built');
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      `Running build.command: ${process.execPath} build.mjs`,
      `build.environment sets GOOS to plan9; the server runs ${process.platform}-${process.arch}, so ${process.platform} is used.`,
      `build.environment sets GOARCH to mips; the server runs ${process.platform}-${process.arch}, so ${arch} is used.`,
      'compiling',
      `Running pre-push: printf ' then %s' "$SWITCHYARD_TARGET" >> made.txt`,
    ]);
    const { output } = await createRunAndWait(server, 'built', { input: {} });
    expect(output).toMatchObject({
      made: `${process.platform} ${arch} 3 then ${process.platform}-${process.arch}`,
    });
  });

  test('a step that fails ends the push with its output, and nothing is pushed', async () => {
    const path = appFolder('broken', {
      'app.yaml': 'type: node\nruntime: node:26\nfiles: [main.mjs]\nbuild: { command: ls no-such-source }\n',
      'main.mjs': MAIN,
    });
    const { code, stderr } = await push(path, 'broken');
    expect(code).toBe(1);
    expect(stderr).toContain('build.command of app.yaml ended with exit code');
    expect(stderr).toContain('no-such-source');
    expect(await isThere('broken')).toBe(false);
  });

  test.each([
    ['build: { command: no-such-compiler }', 'build.command of app.yaml could not be started'],
    ['pre-push: echo the reason >&2; exit 3', /pre-push of app\.yaml ended with exit code 3;.*\nthe reason$/],
    ['build: [go, build]', 'must be a map with command and environment'],
    ['build: { command: [go, build] }', 'build.command'],
    ['files: [no-such-folder]', '"no-such-folder" in files, which matches no file'],
  ])('%s is refused', async (line, words) => {
    const path = appFolder('refused', {
      'app.yaml': `type: node\nruntime: node:26\n${line}\n${line.startsWith('files') ? '' : 'files: [main.mjs]\n'}`,
      'main.mjs': MAIN,
    });
    await expect(packApp(path)).rejects.toThrow(words);
  });
});

/** Writes a wheel, which is a zip archive, by Python's own means: `pricing`, in plain Python. */
const MAKE_WHEEL = `
import sys, zipfile
version = sys.argv[2]
with zipfile.ZipFile(f"{sys.argv[1]}/pricing-{version}-py3-none-any.whl", "w") as wheel:
    info = f"pricing-{version}.dist-info"
    wheel.writestr("pricing/__init__.py", f"VERSION = '{version}'\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: pricing\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

const PYTHON_MAIN = 'import json, pricing\nprint(json.dumps({"version": pricing.VERSION}))\n';
const pythonManifest = (python: string) =>
  `type: python\nruntime: python:3\nfiles: [main.py]\npython:\n${python}\n`;

describe('B4: python.pip-requirements', () => {
  test('packages are installed for the server, packed, and used again while nothing changes', async (context) => {
    if (!hasPip) return context.skip('This machine has no Python with pip.');
    const wheels = join(folder, 'wheels');
    mkdirSync(wheels);
    execFileSync('python3', ['-c', MAKE_WHEEL, wheels, '1.0']);
    // The index of this test is a folder, for either program.
    const index = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels, UV_NO_INDEX: '1', UV_FIND_LINKS: wheels };
    const path = appFolder('python', {
      'app.yaml': pythonManifest('  pip-requirements: requirements.txt\n  arch: arm64\n  version: 3.99'),
      'requirements.txt': '# Prices.\npricing>=1.0\n',
      'main.py': PYTHON_MAIN,
      '.nextmv/python/deps/pricing.py': 'VERSION = "left over"\n',
    });
    const first = await push(path, 'python', index);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /^python\.version is 3\.99; the server runs Python 3\.\d+, so packages for 3\.\d+ are installed\.$/m,
    );
    expect(first.stdout).toMatch(
      /^Installing the Python packages of requirements\.txt for \w+-\w+, Python 3\.\d+, with (uv|pip)\.$/m,
    );
    expect(first.stdout).toMatch(/^Python packages: 1 with 0\.0 MB: pricing 1\.0\.$/m);
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '1.0' });

    execFileSync('python3', ['-c', MAKE_WHEEL, wheels, '2.0']);
    const again = await push(path, 'python', index);
    expect(again.stdout).toMatch(
      /^Python packages: 1 with 0\.0 MB, as installed on \d{4}-\d\d-\d\d for the same requirements/m,
    );
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '1.0' });

    appFolder('python', { 'app.yaml': pythonManifest('  pip-requirements: ["pricing>=1.5"]') });
    expect((await push(path, 'python', index)).stdout).toContain('pricing 2.0');
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '2.0' });

    appFolder('python', { 'app.yaml': pythonManifest('  pip-requirements: ["pricing>=3.0"]') });
    const missing = await push(path, 'python', index);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be installed:') });
    expect(missing.stderr).toContain('pricing');
  });

  test('without uv and pip, the push names what to install and pushes nothing', async () => {
    const path = appFolder('no-pip', {
      'app.yaml': pythonManifest('  pip-requirements: [numpy]'),
      'main.py': PYTHON_MAIN,
    });
    const { code, stderr } = await push(path, 'no-pip', { PATH: join(folder, 'nothing') });
    expect(code).toBe(1);
    expect(stderr).toContain('Install uv (`python3 -m pip install uv`');
    expect(await isThere('no-pip')).toBe(false);
  });

  test.each([
    ['  pip-requirements: missing.txt', '"missing.txt", which is no file there'],
    ['  pip-requirements: [numpy]\n  arch: x86', 'python.arch'],
    ['  pip-requirements: [numpy]\n  version: "3"', 'python.version'],
    ['  pip-requirements: 5', 'python.pip-requirements'],
  ])('a manifest with %j is refused by the field', async (python, words) => {
    const path = appFolder('wrong', { 'app.yaml': pythonManifest(python), 'main.py': PYTHON_MAIN });
    await expect(packApp(path)).rejects.toThrow(words);
  });
});
