/** Folders of other people: links, names and paths that lead out of them, and files that are not sent. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { packApp, packFolder } from './pack.ts';
import { LOCAL_TARGET } from './target.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-folders-')));
const app = join(base, 'repository', 'app');
beforeEach(() => {
  rmSync(join(base, 'repository'), { recursive: true, force: true });
  write('../../secret/keys', 'SECRET');
  write('../../secret/package.json', '{"name":"secret"}');
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, text = 'x'): void {
  const file = join(app, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const link = (path: string, target: string): void => {
  mkdirSync(dirname(join(app, path)), { recursive: true });
  symlinkSync(target, join(app, path));
};
const manifest = (files: readonly string[], rest = '', type = 'binary'): void =>
  write('app.yaml', `type: ${type}\nruntime: native\nfiles: ${JSON.stringify(files)}\n${rest}`);

async function pack(): Promise<{ names: string[]; lines: string[] }> {
  const lines: string[] = [];
  const { files } = await packApp(app, LOCAL_TARGET, (line) => lines.push(line));
  return { names: files, lines };
}

/** Names in the archive, as GNU tar prints them, with escapes. */
async function listInput(): Promise<{ names: string[]; lines: string[] }> {
  const lines: string[] = [];
  const bytes = Buffer.from(await (await packFolder(app, (line) => lines.push(line))).arrayBuffer());
  const listed = execFileSync('tar', ['tzf', '-'], { input: bytes, encoding: 'utf8' });
  return { names: listed.trim().split('\n').sort(), lines };
}

/** As installers write a variable of the environment. */
const variable = (name: string): string => `$${'{'}${name}}`;

describe('A12: a push reads nothing outside of the folder', () => {
  test.each<[string, string[], () => void, string]>([
    ['a link to a file', ['main', 'keys'], () => link('keys', '../../secret/keys'), '"keys" in'],
    [
      'a link in a folder',
      ['main', 'data'],
      () => link('data/keys', join(base, 'secret/keys')),
      '"data/keys" in',
    ],
    [
      'a link that a wildcard matches',
      ['**'],
      () => link('data/keys', '../../../secret/keys'),
      '"data/keys" in',
    ],
    ['a linked folder', ['main', 'data'], () => link('data', '../../secret'), '"data" in'],
    [
      'a file in a linked folder',
      ['main', 'data/keys'],
      () => link('data', '../../secret'),
      '"data/keys" in',
    ],
    ['a wildcard in a linked folder', ['main', 'data/*'], () => link('data', '../../secret'), '"data" in'],
    [
      'a link to a link',
      ['main', 'keys'],
      () => {
        link('there', '../../secret');
        link('keys', 'there/keys');
      },
      '"keys" in',
    ],
    [
      'a link to nothing',
      ['main', 'keys'],
      () => link('keys', 'nothing'),
      'a link to nothing, which does not exist',
    ],
    [
      'a path that goes up',
      ['main', '../../secret/keys'],
      () => {},
      'names "../../secret/keys" in files, which is outside',
    ],
    ['a wildcard that goes up', ['main', 'data/../../*'], () => {}, 'which is outside of the folder'],
    ['an absolute path', ['main', join(base, 'secret/keys')], () => {}, 'which is outside of the folder'],
  ])('%s is refused by its name', async (_, files, prepare, words) => {
    write('main');
    manifest(files);
    prepare();
    const error = await pack().catch((one: Error) => one.message);
    expect(error).toContain(words);
    expect(error).toContain('Nothing was sent.');
  });

  test('links that stay in the folder, and links that "!" removes, are fine', async () => {
    write('main');
    write('lib/a');
    link('current', 'lib');
    link('keys', '../../secret/keys');
    manifest(['**', '!keys']);
    expect((await pack()).names).toEqual(['app.yaml', 'current/a', 'lib/a', 'main']);
  });

  test.each([
    ['python: { pip-requirements: ../../secret/keys }', {}, 'names "../../secret/keys", which is outside'],
    ['python: { pip-requirements: linked.txt }', {}, 'names "linked.txt", which is outside'],
    ['python: { pip-requirements: ["lib @ file:../../secret"] }', {}, 'which is outside'],
    ['', { 'requirements.txt': '-r ../../secret/keys\n' }, 'requirements.txt names "../../secret/keys"'],
    [
      '',
      { 'requirements.txt': '-r more.txt\n', 'more.txt': '--constraint=../../secret/keys' },
      'more.txt names',
    ],
    ['', { 'requirements.txt': '-r \\\n  ../../secret/keys\n' }, 'which is outside'],
    ['', { 'requirements.txt': '# a comment \\\n-r ../../secret/keys\n' }, 'which is outside'],
    ['', { 'requirements.txt': `-r ${variable('HOME')}/keys\n` }, 'one of your environment'],
    [
      '',
      {
        'requirements.txt': `--index-url http://127.0.0.1:1/${variable('AWS_SECRET_ACCESS_KEY')}/simple\nany\n`,
      },
      'requirements.txt has "--index-url http://127.0.0.1:1/',
    ],
    [
      '',
      { 'requirements.txt': '-c more.txt\n', 'more.txt': `-i http://127.0.0.1:1/${variable('TOKEN')}\n` },
      'more.txt has "-i http://127.0.0.1:1/',
    ],
    [
      `python: { pip-requirements: ["any @ http://127.0.0.1:1/${variable('TOKEN')}"] }`,
      {},
      'Nothing was sent.',
    ],
    ['', { 'requirements.txt': '../../secret\n' }, 'which is outside'],
    ['', { 'requirements.txt': Buffer.from('\ufeff-r ../../secret/keys\n', 'utf16le') }, 'is not UTF-8'],
    ['', { 'requirements.txt': '# coding: utf-7\n-r +AC4ALg-/keys\n' }, 'is not UTF-8'],
    [
      'python: { pip-requirements: pyproject.toml }',
      { 'pyproject.toml': '[tool.uv.sources]\nsecret = { path = "../../secret" }\n' },
      'pyproject.toml has',
    ],
  ])('requirements of %j with %j are refused', async (python, files, words) => {
    write('main.py');
    link('linked.txt', '../../secret/keys');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(app, name), text);
    manifest(['main.py'], python || 'python: { pip-requirements: requirements.txt }', 'python');
    await expect(pack()).rejects.toThrow(words);
  });

  test('the installer gets the settings of an index, and no other variable of the user', async () => {
    write('main.py');
    // With another file, the packages of an earlier push are not used.
    write('requirements.txt', '-c more.txt\nany\n');
    write('more.txt', '');
    write('bin/uv', '#!/bin/sh\n[ "$1" = pip ] && env > "$0.env"\nexit 0\n');
    chmodSync(join(app, 'bin/uv'), 0o755);
    manifest(['main.py'], 'python: { pip-requirements: requirements.txt }', 'python');
    vi.stubEnv('PATH', `${join(app, 'bin')}:${process.env.PATH}`);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
    vi.stubEnv('PIP_INDEX_URL', 'http://127.0.0.1:1/simple');
    // Nothing was installed, which the packing may refuse.
    await pack().catch(() => null);
    const env = readFileSync(join(app, 'bin/uv.env'), 'utf8');
    expect(env).toContain('PIP_INDEX_URL=http://127.0.0.1:1/simple\n');
    expect(env).not.toContain('hunter2');
    vi.unstubAllEnvs();
  });

  test.each([
    ['secret', () => link('node_modules/secret', '../../../secret'), 'node_modules/secret in'],
    ['../../../secret', () => {}, 'is not the name of a package'],
  ])('the Node package %s is refused', async (name, prepare, words) => {
    write('main.js');
    write('package.json', JSON.stringify({ dependencies: { [name]: '*' } }));
    prepare();
    manifest(['main.js'], '', 'node');
    await expect(pack()).rejects.toThrow(words);
  });

  test('packages of workspaces and of pnpm are packed', async () => {
    write('../package.json', '{"workspaces": ["*"]}');
    write('../lib/package.json', '{"name":"lib"}');
    link('../node_modules/lib', '../lib');
    write('../node_modules/.pnpm/left@1/node_modules/left/package.json', '{"name":"left"}');
    link('node_modules/left', '../../node_modules/.pnpm/left@1/node_modules/left');
    write('main.js');
    write('package.json', '{"dependencies":{"lib":"*","left":"*"}}');
    manifest(['main.js'], '', 'node');
    expect((await pack()).names).toEqual([
      'app.yaml',
      'main.js',
      'node_modules/lib/package.json',
      'node_modules/left/package.json',
    ]);
  });
});

describe('W6: files that are not sent are named', () => {
  test('a push leaves out hidden files that no pattern names, and sends names with line breaks', async () => {
    for (const name of ['main', '.env', 'data/.b', 'data/two\nlines', '.config/c', 'node_modules/x/y'])
      write(name);
    manifest(['**', '.config/*']);
    expect(await pack()).toEqual({
      names: ['.config/c', 'app.yaml', 'data/two\nlines', 'main'],
      lines: [
        'left out: .env, data/.b (hidden; name it in files of app.yaml to send it)',
        'left out: node_modules (name it in files of app.yaml to send it)',
      ],
    });
  });

  test('a folder of inputs is sent with hidden files, line breaks and empty folders', async () => {
    for (const name of ['a.csv', '.hidden', '.d/b', 'two\nlines.csv', '.git/config']) write(name);
    mkdirSync(join(app, 'empty'));
    execFileSync('mkfifo', [join(app, 'pipe')]);
    writeFileSync(Buffer.concat([Buffer.from(`${app}/`), Buffer.from([0xff, 0xfe])]), 'x');
    link('loop', '.');
    expect(await listInput()).toEqual({
      names: ['.d/b', '.hidden', 'a.csv', 'empty/', 'two\\nlines.csv'],
      lines: expect.toSatisfy(
        (lines: string[]) =>
          lines.toSorted().join('\n') ===
          [
            'left out: .git (a folder of a tool)',
            'left out: loop (a link to a folder around it)',
            'left out: pipe (a pipe, socket or device)',
            'left out: \ufffd\ufffd (not UTF-8)',
          ]
            .toSorted()
            .join('\n'),
      ),
    });
  });

  test('a folder of inputs with a link that leads out of it is refused', async () => {
    write('a.csv');
    link('keys', '../../secret/keys');
    await expect(listInput()).rejects.toThrow(
      `"keys" in ${app} cannot be sent: it leads to ${base}/secret/keys`,
    );
  });
});

describe('W7, W9: a file that is no text of UTF-8 is refused', () => {
  const base = 'type: python\nruntime: python:3\nfiles: [main]\n';
  test.each<[string, string | Buffer, string]>([
    ['UTF-16 with a mark', Buffer.from(`\ufeff${base}`, 'utf16le'), 'is not UTF-8; it looks like UTF-16'],
    ['UTF-16 without a mark', Buffer.from(base, 'utf16le'), 'is not UTF-8; it looks like UTF-16'],
    ['Latin-1', Buffer.from(`${base}# \u00e9\n`, 'latin1'), 'is not UTF-8. Save it as UTF-8.'],
  ])('%s', async (_, text, words) => {
    write('main');
    writeFileSync(join(app, 'app.yaml'), text);
    await expect(pack()).rejects.toThrow(words);
  });

  test.each(['main', './bin/start'])('a carriage return after #! of %s', async (entrypoint) => {
    write(entrypoint, '#!/bin/sh\r\necho {}\r\n');
    manifest(['**'], entrypoint === 'main' ? '' : `execution: {entrypoint: ${entrypoint}}\n`);
    await expect(pack()).rejects.toThrow(String.raw`is "#!/bin/sh\r": it ends with a carriage return`);
  });
});

describe('W7: a pattern that matches nothing', () => {
  test.each([
    ['src\\main.py', 'matches no file. Separate folders by "/": "src/main.py" matches.'],
    ['missing/**', '"missing/**" in files, which matches no file.'],
  ])('%s is refused with the reason', async (pattern, words) => {
    write('src/main.py');
    manifest([pattern]);
    await expect(pack()).rejects.toThrow(words);
  });

  test('node_modules is sent when files names it', async () => {
    for (const name of ['main', 'node_modules/a/index.js', 'node_modules/a/node_modules/b/index.js'])
      write(name);
    manifest(['main', 'node_modules/**']);
    expect((await pack()).names).toEqual([
      'app.yaml',
      'main',
      'node_modules/a/index.js',
      'node_modules/a/node_modules/b/index.js',
    ]);
  });
});
