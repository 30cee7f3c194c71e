/** `switchyard push` as its user: the program in a separate process against a server, with an app in a folder. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { packApp } from './pack.ts';

const MAIN_FILE = locateTestProgram('cli/main.ts');
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
    execFile(process.execPath, [MAIN_FILE, 'push', path, id], { env: settings }, (error, stdout, stderr) =>
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
  command: sh build.sh
  environment: { GOOS: plan9, GOARCH: mips, COUNT: 3 }
pre-push: printf ' then %s' "$SWITCHYARD_TARGET" >> made.txt
`,
      'main.mjs': MAIN,
      // The command has no quotes, and the path of Node may have a space.
      'build.sh': `exec "${process.execPath}" build.mjs`,
      'build.mjs': `
import { writeFileSync } from 'node:fs';
const { GOOS, GOARCH, COUNT } = process.env;
console.log('compiling');
writeFileSync('made.txt', [GOOS, GOARCH, COUNT].join(' '));
`,
    });
    const { code, stderr } = await push(path, 'built');
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    expect(code).toBe(0);
    expect(stderr.split('\n').slice(0, 5)).toEqual([
      'Running build.command: sh build.sh',
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

  test('A12, W6: push names what it leaves out, and sends nothing when a link leads out of the folder', async () => {
    const path = appFolder('linked', {
      'app.yaml': 'type: node\nruntime: node:26\nfiles: [main.mjs, data]\n',
      'main.mjs': MAIN,
      'data/.hidden': '1',
      'data/a': '2',
    });
    expect(await push(path, 'linked')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('left out: data/.hidden (hidden'),
    });
    symlinkSync(folder, join(path, 'data', 'keys'));
    expect(await push(path, 'not-linked')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`"data/keys" in ${path} cannot be sent: it leads to ${folder}`),
    });
    expect(await isThere('not-linked')).toBe(false);
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
    [
      'pre-push: printf "\\033[0m[ERROR] the reason\\n[ERROR] -> [Help 1]\\n[ERROR] \\n\\033[0m"; exit 1',
      /Its output:\n\[ERROR\] the reason$/,
    ],
    ['files: [no-such-folder]', '"no-such-folder" in files, which matches no file'],
  ])('%s is refused', async (line, words) => {
    const path = appFolder('refused', {
      'app.yaml': `type: node\nruntime: node:26\n${line}\n${line.startsWith('files') ? '' : 'files: [main.mjs]\n'}`,
      'main.mjs': MAIN,
    });
    await expect(packApp(path)).rejects.toThrow(words);
  });
});

/** Writes a wheel, which is a zip archive, by Python's own means: folder, name, version, tag, requirement. */
const MAKE_WHEEL = `
import sys, zipfile
folder, name, version, tag, *requirements = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/{name}-{version}-{tag}.whl", "w") as wheel:
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {one}\\n" for one in requirements)
    wheel.writestr(f"{name}/__init__.py", f"VERSION = '{version}'\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{requires}")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: {tag}\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
const makeWheel = (...args: string[]): void => void execFileSync('python3', ['-c', MAKE_WHEEL, ...args]);

/** The index of these tests is a folder, for either program. */
const readFolder = (wheels: string) => ({
  PIP_NO_INDEX: '1',
  PIP_FIND_LINKS: wheels,
  UV_NO_INDEX: '1',
  UV_FIND_LINKS: wheels,
});

const PYTHON_MAIN = 'import json, pricing\nprint(json.dumps({"version": pricing.VERSION}))\n';
const pythonManifest = (python: string) =>
  `type: python\nruntime: python:3\nfiles: [main.py]\npython:\n${python}\n`;

describe('B4: python.pip-requirements', () => {
  test('packages are installed for the server, packed, and used again while nothing changes', async (context) => {
    if (!hasPip) return context.skip('This machine has no Python with pip.');
    const wheels = join(folder, 'wheels');
    mkdirSync(wheels);
    makeWheel(wheels, 'pricing', '1.0', 'py3-none-any');
    const index = readFolder(wheels);
    const path = appFolder('python', {
      'app.yaml': pythonManifest('  pip-requirements: requirements.txt\n  arch: arm64\n  version: 3.99'),
      'requirements.txt': '# Prices.\npricing>=1.0\n',
      'main.py': PYTHON_MAIN,
      '.nextmv/python/deps/pricing.py': 'VERSION = "left over"\n',
    });
    const first = await push(path, 'python', index);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(
      /^python\.version is 3\.99; the server runs Python 3\.\d+, so packages for 3\.\d+ are installed\.$/m,
    );
    expect(first.stderr).toMatch(
      /^Installing the Python packages of requirements\.txt for \w+-\w+, Python 3\.\d+, with (uv|pip)\.$/m,
    );
    expect(first.stderr).toMatch(/^Python packages: 1 with \d+\sB: pricing 1\.0\.$/m);
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '1.0' });

    makeWheel(wheels, 'pricing', '2.0', 'py3-none-any');
    const again = await push(path, 'python', index);
    expect(again.stderr).toMatch(
      /^Python packages: 1 with \d+\sB, as installed on \d{4}-\d\d-\d\d for the same requirements/m,
    );
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '1.0' });

    appFolder('python', { 'app.yaml': pythonManifest('  pip-requirements: ["pricing>=1.5"]') });
    expect((await push(path, 'python', index)).stderr).toContain('pricing 2.0');
    expect((await createRunAndWait(server, 'python', { input: {} })).output).toEqual({ version: '2.0' });

    appFolder('python', { 'app.yaml': pythonManifest('  pip-requirements: ["pricing>=3.0"]') });
    const missing = await push(path, 'python', index);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be installed:') });
    expect(missing.stderr).toContain('pricing');
  });

  test('packages for another processor and Python are refused with the versions that exist, or installed', async (context) => {
    if (!hasPip) return context.skip('This machine has no Python with pip.');
    const wheels = join(folder, 'foreign-wheels');
    mkdirSync(wheels);
    makeWheel(
      wheels,
      'solver',
      '1.0',
      'cp312-cp312-manylinux_2_28_aarch64',
      'pricing; python_version >= "3.12"',
    );
    makeWheel(wheels, 'solver', '1.1', 'cp312-cp312-win_amd64');
    makeWheel(wheels, 'pricing', '1.0', 'py3-none-any');
    const path = appFolder('foreign', {
      'app.yaml': pythonManifest('  pip-requirements: [solver, pricing]'),
      'main.py': PYTHON_MAIN,
    });
    const packFor = async (python: string): Promise<string> => {
      const target = { platform: 'linux', architecture: 'arm64', python };
      const program = `import { packApp } from '${join(import.meta.dirname, 'pack.ts')}';
const { archive } = await packApp(${JSON.stringify(path)}, ${JSON.stringify(target)});
process.stdout.write(Buffer.from(await archive.arrayBuffer()));`;
      const settings = {
        PATH: process.env.PATH,
        HOME: folder,
        SWITCHYARD_PACKAGE_CACHE: join(folder, 'cache'),
      };
      const options = { env: { ...settings, ...readFolder(wheels) }, encoding: 'buffer' as const };
      const args = ['--input-type=module', '-e', program];
      return await promisify(execFile)(process.execPath, args, options).then(
        ({ stdout }) => execFileSync('tar', ['tzf', '-'], { input: stdout, encoding: 'utf8' }),
        (error: { stderr: Buffer }) => error.stderr.toString(),
      );
    };
    expect(await packFor('3.12')).toContain('.nextmv/python/deps/solver/__init__.py');
    const refused = await packFor('3.11');
    expect(refused).toContain('solver has no wheel for linux-arm64 with Python 3.11. There is: ');
    expect(refused).toMatch(/1\.0/);
    expect(refused).toContain('Name another version or another package.');
  });

  describe('requirements that cannot be installed', () => {
    beforeAll(() => {
      const wheels = join(folder, 'few-wheels');
      mkdirSync(wheels);
      if (hasPip) makeWheel(wheels, 'pricing', '1.0', 'py3-none-any');
      for (const [name, value] of Object.entries(readFolder(wheels))) vi.stubEnv(name, value);
    });
    afterAll(() => {
      vi.unstubAllEnvs();
    });
    const pack = async (requirements: string, text = ''): Promise<unknown> =>
      packApp(
        appFolder('requirements', {
          'app.yaml': pythonManifest(`  pip-requirements: ${requirements}`),
          'main.py': PYTHON_MAIN,
          'requirements.txt': text,
        }),
      );

    test.each([
      [
        '["pricing\\n--index-url http://evil.example"]',
        '',
        'which has a line break. Write one requirement per item.',
      ],
      [
        '["--index-url=http://evil.example", pricing]',
        '',
        'which is an option. Write it and the requirements to a file',
      ],
      [
        'requirements.txt',
        'pricing\n-e ./lib\n',
        'editable requirement "-e ./lib": a link to a folder of this machine',
      ],
    ])('%s is refused before any program starts', async (requirements, text, words) => {
      await expect(pack(requirements, text)).rejects.toThrow(words);
    });

    test.each([
      ['["pricing; touch hacked"]', '', 'is no requirement'],
      ['["$(touch hacked)"]', '', 'is no requirement'],
      ['["pricing --target=/hacked"]', '', 'cannot be installed'],
      ['requirements.txt', `pricing==1.0 --hash=sha256:${'0'.repeat(64)}\n`, 'differs from its hash'],
      ['requirements.txt', '-r absent.txt\n', 'absent.txt'],
    ])('%s %s is refused by its cause', async (requirements, text, words) => {
      if (!hasPip) return;
      await expect(pack(requirements, text)).rejects.toThrow(words);
      for (const place of ['.', folder, join(folder, 'requirements')])
        expect(existsSync(join(place, 'hacked'))).toBe(false);
    });

    test('an index that cannot be reached is the cause, not the package', async () => {
      if (!hasPip) return;
      const nowhere = 'http://127.0.0.1:9/simple';
      const settings = {
        PIP_INDEX_URL: nowhere,
        UV_DEFAULT_INDEX: nowhere,
        PIP_RETRIES: '0',
        UV_HTTP_RETRIES: '0',
      };
      for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
      for (const name of ['PIP_NO_INDEX', 'UV_NO_INDEX']) vi.stubEnv(name, undefined);
      await expect(pack('[absent-package]')).rejects.toThrow('the package index cannot be reached');
    });
  });

  test('a requirements file may name other files and an index', async (context) => {
    if (!hasPip) return context.skip('This machine has no Python with pip.');
    const path = appFolder('nested', {
      'app.yaml': pythonManifest('  pip-requirements: deps/requirements.txt'),
      'deps/requirements.txt': `--no-index\n--find-links ${join(folder, 'wheels')}\n-r more.txt\n`,
      'deps/more.txt': 'pricing==2.0\n',
      'main.py': PYTHON_MAIN,
    });
    mkdirSync(join(folder, 'wheels'), { recursive: true });
    makeWheel(join(folder, 'wheels'), 'pricing', '2.0', 'py3-none-any');
    expect(await push(path, 'nested')).toMatchObject({ code: 0 });
    expect((await createRunAndWait(server, 'nested', { input: {} })).output).toEqual({ version: '2.0' });
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
