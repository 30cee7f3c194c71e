/** Laws about package.json files, the lock file and the documented tree. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { extractDocumentedPaths } from './documented-tree.ts';
import {
  checkEngines,
  checkLockFile,
  checkOwnVersions,
  findRegistryHosts,
  findUnpinnedVersions,
  findVersionConflicts,
  type Lock,
} from './manifest-laws.ts';
import { collectPackages, type Manifest } from './packages.ts';
import { ROOT, readTextFiles, SKIPPED_NAMES } from './source-files.ts';

const packages = collectPackages(readTextFiles());
const lock = JSON.parse(readFileSync(`${ROOT}/package-lock.json`, 'utf8')) as Lock;

describe('this repository', () => {
  test('pins every dependency', () => {
    expect(packages.size).toBeGreaterThan(5);
    expect(findUnpinnedVersions(packages)).toEqual([]);
  });
  test('has one version of each dependency', () => {
    expect(findVersionConflicts(packages)).toEqual([]);
  });
  test('uses the existing versions of its own packages', () => {
    expect(checkOwnVersions(packages)).toEqual([]);
  });
  test('names the Node version for the installation', () => {
    expect(checkEngines(packages)).toEqual([]);
  });
  test('has a lock file that matches the manifests', () => {
    expect(checkLockFile(packages, lock)).toEqual([]);
  });
  test('names no registry', () => {
    expect(findRegistryHosts(lock)).toEqual([]);
  });

  test('has every path that ARCHITECTURE.md names', () => {
    const page = `${ROOT}/ARCHITECTURE.md`;
    // A run of the server or of a build may have created these.
    const folders = readdirSync(ROOT, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !SKIPPED_NAMES.has(entry.name),
    );
    const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
    const missing = extractDocumentedPaths(
      text,
      folders.map(({ name }) => name),
    ).filter((path) => !existsSync(`${ROOT}/${path}`));
    expect(missing, 'ARCHITECTURE.md names paths that do not exist: correct it, or create them.').toEqual([]);
  });
});

function of(manifest: Manifest, folder = 'server'): Map<string, Manifest> {
  return new Map([
    ['', { name: 'y', engines: { node: '>=20' } }],
    [folder, manifest],
  ]);
}

describe('versions', () => {
  test.each([
    '^1.0.0',
    '~1.0.0',
    '1.0',
    '1',
    '*',
    'latest',
    '>=1.0.0',
    'file:../a',
    '1.0.0 || 2.0.0',
    'github:a/b',
  ])('%s is not exact', (version) => {
    expect(findUnpinnedVersions(of({ devDependencies: { a: version } }))).toEqual([
      `server/package.json has a ${version}: pin one exact version.`,
    ]);
  });

  test.each(['1.0.0', '18.4.0-beta.17', '10.20.30-rc.1'])('%s is exact', (version) => {
    expect(findUnpinnedVersions(of({ dependencies: { a: version } }))).toEqual([]);
  });

  test('two versions of one package are found', () => {
    const two = of({ dependencies: { a: '1.0.0' } }).set('site', { devDependencies: { a: '1.0.1' } });
    expect(findVersionConflicts(two)).toEqual([
      'site/package.json has a 1.0.1, but server/package.json has 1.0.0: use the same.',
    ]);
    expect(findVersionConflicts(of({ dependencies: { a: '1.0.0' } }))).toEqual([]);
  });

  test('a missing version of a workspace package is found', () => {
    const own = of({ dependencies: { '@y/a': '0.2.0' } }).set('a', { name: '@y/a', version: '0.1.0' });
    expect(checkOwnVersions(own)).toEqual([
      'server/package.json has @y/a 0.2.0, which is 0.1.0: use that version.',
    ]);
  });

  test('missing engines, and engines without Node, are found', () => {
    expect(checkEngines(new Map([['', {}]]))).toHaveLength(1);
    expect(checkEngines(new Map([['', { engines: { node: 'lts' } }]]))).toHaveLength(1);
    expect(checkEngines(of({}))).toEqual([]);
  });
});

describe('the lock file', () => {
  const manifest: Manifest = { dependencies: { a: '1.0.0', '@y/own': '0.1.0' } };
  const packagesHere = of(manifest).set('own', { name: '@y/own' });
  const good: Lock = {
    packages: {
      '': { name: 'y' },
      server: manifest,
      own: {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/@y/own': { link: true, resolved: 'own' },
    },
  };
  const changed = (packagesThere: Lock['packages']): Lock => ({
    packages: { ...good.packages, ...packagesThere },
  });

  test('a matching lock file has no violation', () => {
    expect(checkLockFile(packagesHere, good)).toEqual([]);
  });

  test('a copy below the package itself precedes the shared one', () => {
    const nested = changed({
      'node_modules/a': { version: '2.0.0' },
      'server/node_modules/a': { version: '1.0.0' },
    });
    expect(checkLockFile(packagesHere, nested)).toEqual([]);
  });

  test.each<[string, Lock, string]>([
    [
      'a dependency that the lock file lacks',
      changed({ server: { dependencies: { '@y/own': '0.1.0' } } }),
      'disagree about dependencies a 1.0.0',
    ],
    [
      'a removed dependency',
      changed({ server: { dependencies: { ...manifest.dependencies, b: '1.0.0' } } }),
      'disagree about dependencies b 1.0.0',
    ],
    [
      'another installed version',
      changed({ 'node_modules/a': { version: '1.0.1' } }),
      'has a 1.0.1, but server/package.json has 1.0.0',
    ],
    ['a folder without package.json', changed({ gone: {} }), 'has gone, which has no package.json'],
  ])('%s is found', (_, wrong, words) => {
    expect(checkLockFile(packagesHere, wrong)).toEqual([expect.stringContaining(words)]);
  });

  test('an unknown package is found', () => {
    expect(checkLockFile(new Map(packagesHere).set('new', {}), good)).toEqual([
      'package-lock.json lacks new/package.json: run `npm install` and commit package-lock.json.',
    ]);
  });

  test('a URL of a registry is found, a link is not', () => {
    const resolved = 'https://registry.example.com/a/-/a-1.0.0.tgz';
    expect(findRegistryHosts(good)).toEqual([]);
    expect(findRegistryHosts(changed({ 'node_modules/a': { version: '1.0.0', resolved } }))).toEqual([
      expect.stringContaining(`has the URL ${resolved} for node_modules/a`),
    ]);
  });
});

describe('documented paths', () => {
  const folders = ['server', 'contract', 'decisions'];

  test('paths of a tree are found by indentation, with several names in a line', () => {
    const tree = [
      '```text',
      'contract/        what the API promises',
      'server/          keeps the promise',
      '  runs/          every run',
      '    submit.ts    creates runs',
      '  main.ts        start',
      'decisions/0003-limits.md',
      'ARCHITECTURE.md  README.md  package.json',
      '```',
    ].join('\n');
    expect(extractDocumentedPaths(tree, folders)).toEqual([
      'contract/',
      'server/',
      'server/runs/',
      'server/runs/submit.ts',
      'server/main.ts',
      'decisions/0003-limits.md',
      'ARCHITECTURE.md',
      'README.md',
      'package.json',
    ]);
  });

  test('paths of a drawn tree are found', () => {
    const tree = '```\nserver/\n├── runs/   # every run\n│   └── submit.ts\n└── main.ts\n```\n';
    expect(extractDocumentedPaths(tree, folders)).toEqual([
      'server/',
      'server/runs/',
      'server/runs/submit.ts',
      'server/main.ts',
    ]);
  });

  test('paths of running text and links are found', () => {
    const text =
      'See `server/runs/submit.ts` ([why](./decisions/0001.md), `and/or`, [there](https://a.example/b)).';
    expect(extractDocumentedPaths(text, folders)).toEqual(['server/runs/submit.ts', 'decisions/0001.md']);
  });

  test('commands, patterns and plain words are no paths', () => {
    const text =
      '```sh\nnpm start\nnode contract/openapi/documents.ts\n```\nEvery `server/*/store.ts` and `GET /v1/runs`.';
    expect(extractDocumentedPaths(text, folders)).toEqual([]);
  });
});
