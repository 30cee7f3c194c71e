/** Laws about imports: each holds for this repository, and each finds its examples of violations. */
import { describe, expect, test } from 'vitest';
import {
  checkDeclaredImports,
  checkPackageOrder,
  checkServerOrder,
  checkThreadImports,
  findImportCycles,
} from './import-laws.ts';
import { collectPackages, type Manifest, packageFolder, resolveImport } from './packages.ts';
import {
  findDatabaseDrivers,
  findDirectTime,
  findEnvironmentReads,
  findRowLocks,
  findTelemetryImports,
} from './server-laws.ts';
import { isCode, readTextFiles, type Source } from './source-files.ts';
import { listImports } from './syntax.ts';

const files = readTextFiles();
const sources = files.filter(isCode);
const packages = collectPackages(files);

test('the walk finds the code', () => {
  const paths = new Set(sources.map(({ path }) => path));
  expect(paths).toContain('checks/imports.test.ts');
  expect(paths).toContain('contract/operations.ts');
  expect([...paths].filter((path) => path.includes('node_modules'))).toEqual([]);
  expect(packages.get('contract')?.name).toBe('@switchyard/contract');
});

describe('this repository', () => {
  test('packages import only earlier packages', () => {
    expect(checkPackageOrder(sources, packages)).toEqual([]);
  });
  test('parts of the server import only earlier parts', () => {
    expect(checkServerOrder(sources, packages)).toEqual([]);
  });
  test('packages import only what they declare', () => {
    expect(checkDeclaredImports(sources, packages)).toEqual([]);
  });
  test('nothing imports in circles', () => {
    expect(findImportCycles(sources, packages)).toEqual([]);
  });
  test('threads load only packages that they import directly', () => {
    expect(checkThreadImports(sources, packages)).toEqual([]);
  });
  test('only server/platform/config.ts reads the environment', () => {
    expect(findEnvironmentReads(sources)).toEqual([]);
  });
  test('only server/platform/database/ imports database libraries', () => {
    expect(findDatabaseDrivers(sources)).toEqual([]);
  });
  test('only server/platform/database/ writes row locks', () => {
    expect(findRowLocks(sources)).toEqual([]);
  });
  test('a server without an exporter of spans does not load one', () => {
    expect(findTelemetryImports(sources)).toEqual([]);
  });
  test('the clock and the randomness of the server have few owners', () => {
    expect(findDirectTime(sources)).toEqual([]);
  });
});

describe('imports are found', () => {
  test.each([
    ["import './a.css';", 'runtime ./a.css'],
    ["import a, { b as c } from './a.ts';", 'runtime ./a.ts'],
    ["import type { A } from './a.ts';", 'type ./a.ts'],
    ["import { type A } from './a.ts';", 'runtime ./a.ts'],
    ["export * from './a.ts';", 'runtime ./a.ts'],
    ["export { a } from './a.ts';", 'runtime ./a.ts'],
    ["export type { A } from './a.ts';", 'type ./a.ts'],
    ["type A = import('./a.ts').A;", 'type ./a.ts'],
    ["const a = await import('./a.ts');", 'runtime ./a.ts'],
    ['const a = await import(`./a.ts`);', 'runtime ./a.ts'],
    ["const a = require('pg');", 'runtime pg'],
    ["new Worker(new URL('./a.ts', import.meta.url));", 'url ./a.ts'],
  ])('%s', (text, expected) => {
    const found = listImports({ path: 'x.ts', text });
    expect(found.map(({ kind, specifier }) => `${kind} ${specifier}`)).toEqual([expected]);
  });

  test.each([
    "// import './a.ts';",
    'const a = "import \'./a.ts\'";',
    'const a = `import b from "./a.ts"`;',
    'const a = /import(".\\/a.ts")/;',
    "new URL('./openapi/cloud.json', import.meta.url);",
    "new URL('./a.ts', base);",
  ])('%s imports nothing', (text) => {
    expect(listImports({ path: 'x.ts', text })).toEqual([]);
  });

  test('JSX files have their imports found, with names and lines', () => {
    const text = "const a = <p>import 'b'</p>;\n\nimport { Kysely, type Sql as S } from 'kysely';\n";
    expect(listImports({ path: 'x.tsx', text })).toEqual([
      { specifier: 'kysely', kind: 'runtime', names: ['Kysely', 'Sql'], line: 3 },
    ]);
  });

  test('a parse error names the source', () => {
    expect(() => listImports({ path: 'server/x.ts', text: 'import {' })).toThrow(
      /^server\/x\.ts cannot be parsed: /,
    );
  });
});

/** A small repository: packages as in this one, with files as passed. */
const manifests = new Map<string, Manifest>([
  ['', { devDependencies: { vitest: '5.1.1', '@types/pg': '8.23.1' } }],
  ['contract', { name: '@y/contract', dependencies: { typebox: '1.4.3' } }],
  ['runner', { name: '@y/runner', exports: { '.': './index.ts' }, dependencies: { '@y/contract': '0.1.0' } }],
  ['server', { name: '@y/server', dependencies: { '@y/contract': '0.1.0', pg: '8.23.1' } }],
  ['site', { name: '@y/site', devDependencies: { '@y/server': '0.1.0', vite: '8.3.8' } }],
  ['sample-apps/knapsack', { name: '@y-apps/knapsack' }],
  ['checks', { name: '@y/checks', devDependencies: { rolldown: '1.2.19' } }],
]);
function repository(...written: [path: string, text: string][]): Source[] {
  return written.map(([path, text]) => ({ path, text }));
}

describe('targets', () => {
  test.each([
    ['server/runs/submit.ts', './rules.ts', 'server', 'server/runs/rules.ts'],
    ['server/main.ts', '../contract/operations.ts', 'contract', 'contract/operations.ts'],
    ['server/main.ts', '@y/contract/operations.ts', 'contract', 'contract/operations.ts'],
    ['server/main.ts', '@y/runner', 'runner', 'runner/index.ts'],
    ['site/page.tsx', './page.css?inline', 'site', 'site/page.css'],
    ['checks/a.test.ts', '../vitest.config.ts', '', 'vitest.config.ts'],
  ])('%s importing %s', (from, specifier, folder, path) => {
    expect(resolveImport(from, specifier, manifests)).toMatchObject({ kind: 'own', folder, path });
  });

  test.each([
    ['fastify/types.js', { kind: 'foreign', name: 'fastify' }],
    ['@fastify/static', { kind: 'foreign', name: '@fastify/static' }],
    ['@fastify/static/lib/a.js', { kind: 'foreign', name: '@fastify/static' }],
    ['node:fs/promises', { kind: 'node', name: 'node:fs/promises' }],
  ])('%s is not ours', (specifier, expected) => {
    expect(resolveImport('server/main.ts', specifier, manifests)).toEqual(expected);
  });

  test('a sample app is a package of its own', () => {
    expect(packageFolder('sample-apps/knapsack/src/main.ts')).toBe('sample-apps/knapsack');
    expect(packageFolder('server/runs/submit.ts')).toBe('server');
    expect(packageFolder('vitest.config.ts')).toBe('');
  });
});

describe('the order of packages', () => {
  test.each([
    ['contract/a.ts', "import '@y/runner';", 'contract may import no workspace package'],
    ['runner/a.ts', "import type { A } from '@y/server/a.ts';", 'runner may import contract'],
    ['server/a.ts', "import '../site/a.ts';", 'server may import contract and runner'],
    ['server/a.ts', "import '../contract/a.ts';", 'by a relative path'],
    [
      'site/a.tsx',
      "await import('@y/server/main.ts');",
      'site may import contract and design and static-build and explorer',
    ],
    ['site/a.test.ts', "import '@y/runner';", 'and explorer and server and browser-testing'],
    ['sample-apps/knapsack/a.ts', "import '@y/contract/a.ts';", 'may import no workspace package'],
    ['sample-apps/knapsack/a.ts', "import '../other/a.ts';", 'may import no workspace package'],
  ])('%s: %s is found', (path, text, words) => {
    expect(checkPackageOrder(repository([path, text]), manifests)).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    ['server/a.ts', "import '@y/contract/a.ts'; import '@y/runner'; import './b.ts'; import 'pg';"],
    ['site/a.test.ts', "import '@y/server/main.ts';"],
    ['site/testing/a.ts', "import '@y/server/main.ts';"],
    ['checks/a.ts', "import '../server/main.ts';"],
    ['vitest.config.ts', "import './server/main.ts';"],
  ])('%s: %s is allowed', (path, text) => {
    expect(checkPackageOrder(repository([path, text]), manifests)).toEqual([]);
  });
});

describe('the order inside the server', () => {
  test.each([
    [
      'server/runs/submit.ts',
      "import '../ops/webhooks/deliver.ts';",
      'server/ops, which stands after server/runs',
    ],
    [
      'server/platform/config.ts',
      "import type { Db } from '../accounts/store.ts';",
      'server/accounts, which stands after',
    ],
    ['server/runs/submit.ts', "import '../testing/start.ts';", 'server/testing, which stands after'],
    ['server/runs/a.test.ts', "import '../ops/webhooks/deliver.ts';", 'server/ops, which stands after'],
    ['server/ops/site/routes.ts', "import '../../main.ts';", 'server/main, which stands after'],
    [
      'server/apps/uploads/a.ts',
      "new URL('../../runs/worker.ts', import.meta.url);",
      'server/runs, which stands after',
    ],
    ['server/helpers/a.ts', '', 'server/helpers has no place in the import order'],
  ])('%s: %s is found', (path, text, words) => {
    expect(checkServerOrder(repository([path, text]), manifests)).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    [
      'server/ops/webhooks/deliver.ts',
      "import '../../runs/events.ts'; import './rules.ts'; import '../../platform/clock.ts';",
    ],
    ['server/runs/a.test.ts', "import '../testing/start.ts'; import '../accounts/keys.ts';"],
    ['server/platform/config.test.ts', "import './config.ts'; import '../testing/start.ts';"],
    ['server/main.ts', "import manifest from './package.json'; import './ops/routes.ts'; import 'pg';"],
    ['site/build.ts', "import './testing/start.ts';"],
  ])('%s: %s is allowed', (path, text) => {
    expect(checkServerOrder(repository([path, text]), manifests)).toEqual([]);
  });
});

describe('declared packages', () => {
  test.each([
    ['runner/a.ts', "import 'pg';", 'imports pg, which runner does not declare: add it to the dependencies'],
    ['runner/a.ts', "import 'vitest';", 'add it to the dependencies'],
    ['site/a.ts', "import 'vite';", 'add it to the dependencies'],
    ['site/a.ts', "import '@y/contract/a.ts';", 'imports @y/contract, which site does not declare'],
    ['runner/a.test.ts', "import 'fast-check';", 'add it to the devDependencies'],
  ])('%s: %s is found', (path, text, words) => {
    expect(checkDeclaredImports(repository([path, text]), manifests)).toEqual([
      expect.stringContaining(words),
    ]);
  });

  test.each([
    ['server/a.ts', "import 'pg'; import 'node:fs'; import './b.ts'; import '@y/contract/a.ts';"],
    ['runner/a.ts', "import type { Pool } from 'pg';"],
    ['site/a.test.ts', "import 'vite'; import 'vitest'; import '@y/server/main.ts';"],
    ['checks/a.ts', "import 'rolldown/utils'; import 'vitest';"],
    ['vitest.config.ts', "import 'vitest/config';"],
  ])('%s: %s is allowed', (path, text) => {
    expect(checkDeclaredImports(repository([path, text]), manifests)).toEqual([]);
  });
});

describe('circles', () => {
  test('an import circle of files is found', () => {
    const circle = repository(
      ['server/a.ts', "import './b.ts';"],
      ['server/b.ts', "export * from './c.ts';"],
      ['server/c.ts', "await import('./a.ts');"],
      ['server/d.ts', "import './a.ts';"],
    );
    expect(findImportCycles(circle, manifests)).toEqual([
      'Files import one another in a circle; move the shared code to another file: server/a.ts → server/b.ts → server/c.ts → server/a.ts.',
    ]);
  });

  test('an import circle of folders is found, types included, without a circle of files', () => {
    const circle = repository(
      ['server/runs/a.ts', "import '../apps/a.ts';"],
      ['server/apps/a.ts', ''],
      ['server/apps/b.ts', "import type { C } from '../runs/c.ts';"],
      ['server/runs/c.ts', ''],
    );
    expect(findImportCycles(circle, manifests)).toEqual([
      'Folders import one another in a circle; move what they share before them: server/apps → server/runs → server/apps.',
    ]);
  });

  test('an import circle of a folder and a file beside it is found', () => {
    const circle = repository(
      ['site/build.ts', "import './parts/a.ts';"],
      ['site/parts/a.ts', "import type { B } from '../build.ts';"],
    );
    expect(findImportCycles(circle, manifests)).toEqual([
      expect.stringContaining('site/build.ts → site/parts → site/build.ts'),
    ]);
  });

  test('types between files, tests, worker files and similar names make no circle', () => {
    const straight = repository(
      ['server/a.ts', "import './b.ts';"],
      ['server/b.ts', "import type { A } from './a.ts';"],
      ['server/runs/a.ts', "import '../workers/a.ts'; new URL('./worker.ts', import.meta.url);"],
      ['server/runs/worker.ts', "import './a.ts';"],
      ['server/runs/workers/a.ts', ''],
      ['server/runs/workers/a.test.ts', "import '../runs/a.ts';"],
      ['server/runs-archive/a.ts', "import '../runs/a.ts';"],
    );
    expect(findImportCycles(straight, manifests)).toEqual([]);
  });
});

describe('the environment of the server', () => {
  test.each([
    'const a = process.env.HOME;',
    "const a = process.env['HOME'];",
    'run({ env: process.env });',
    'const { env } = process;',
    "import { env } from 'node:process';",
  ])('%s is found', (text) => {
    expect(findEnvironmentReads([{ path: 'server/runs/a.ts', text }])).toEqual([
      expect.stringContaining('server/platform/config.ts'),
    ]);
  });

  test.each([
    ['server/platform/config.ts', 'const a = process.env.HOME;'],
    ['server/testing/start.ts', 'const a = process.env;'],
    ['runner/a.ts', 'const a = process.env;'],
    ['server/a.ts', 'const a = other.env; const { pid } = process; // process.env'],
  ])('%s: %s is allowed', (path, text) => {
    expect(findEnvironmentReads([{ path, text }])).toEqual([]);
  });
});

describe('the database of the server', () => {
  test.each([
    "import pg from 'pg';",
    "import type { Pool } from 'pg';",
    "import { DatabaseSync } from 'node:sqlite';",
    "import { Kysely, SqliteDialect } from 'kysely';",
    "import { type PostgresAdapter } from 'kysely';",
  ])('%s is found', (text) => {
    expect(findDatabaseDrivers([{ path: 'server/runs/store.ts', text }])).toEqual([
      expect.stringContaining('only server/platform/database/ may import'),
    ]);
  });

  test.each([
    [
      'server/platform/database/postgres/postgres.ts',
      "import pg from 'pg'; import { PostgresDialect } from 'kysely';",
    ],
    ['server/runs/store.ts', "import { type Kysely, sql, type Transaction } from 'kysely';"],
    ['server/testing/postgres.ts', "import pg from 'pg';"],
    ['sample-apps/knapsack/a.ts', "import { DatabaseSync } from 'node:sqlite';"],
  ])('%s: %s is allowed', (path, text) => {
    expect(findDatabaseDrivers([{ path, text }])).toEqual([]);
  });
});

test.each([
  ["import { trace } from '@opentelemetry/api';", 1],
  ["import { createOtlpTracing } from './otlp-tracing.ts';", 1],
  ["export { trace } from '@opentelemetry/api';", 1],
  ["export * from './otlp-tracing.ts';", 1],
  ['export const trace = 1;', 0],
  ["const { createOtlpTracing } = await import('./otlp-tracing.ts');", 0],
])('the libraries of traces: %s', (text, count) => {
  expect(findTelemetryImports([{ path: 'server/platform/tracing/tracing.ts', text }])).toHaveLength(count);
});

test.each([
  ['const now = Date.now();', 1],
  ['const at = new Date();', 1],
  ['setTimeout(end, 10);', 1],
  ['const id = randomUUID();', 1],
  ['const at = new Date(instant);', 0],
  ['const now = clock.now();', 0],
])('direct use of the time: %s', (text, count) => {
  expect(findDirectTime([{ path: 'server/runs/queue/requeue.ts', text }])).toHaveLength(count);
});

test('the time of the machine has its owner', () => {
  const text = 'const now = Date.now();';
  expect(findDirectTime([{ path: 'server/platform/clock.ts', text }])).toEqual([]);
});

test('nothing imports the simulation', () => {
  const text = "import { drawPlan } from '../simulation/load/plan.ts';";
  const packages = collectPackages(files);
  expect(checkPackageOrder([{ path: 'chaos/main.ts', text }], packages)).toHaveLength(1);
});

describe('row locks', () => {
  test.each([
    'query.forUpdate();',
    "query.forUpdate('runs').skipLocked();",
    'query?.forShare();',
    'query.forKeyShare();',
    "query['forNoKeyUpdate']();",
    'const lock = query.forUpdate;',
    'if (locks) query.noWait();',
    'const locks = skipsLocked(database);',
    "import { skipsLocked } from '../database/database.ts';",
    'sql`select id from runs for update`.execute(tx);',
    'sql<Row>`select id from runs FOR NO KEY\n UPDATE`.execute(tx);',
    'sql`select id from runs for key share skip locked`.execute(tx);',
    'sql`lock table accounts in share mode`.execute(tx);',
  ])('%s is found', (text) => {
    const [first] = findRowLocks([{ path: 'server/runs/store.ts', text }]);
    expect(first).toMatch(/^server\/runs\/store\.ts:1 uses .*: lock rows with locked\(\)/);
  });

  test.each([
    ['server/platform/database/row-locks.ts', 'query.forUpdate().skipLocked();'],
    ['server/runs/store.ts', "locked(tx, query, 'update skip locked').execute();"],
    ['server/runs/store.ts', '// query.forUpdate()'],
    ['server/runs/store.ts', "const text = 'ready for update';"],
    ['server/runs/store.test.ts', 'query.forUpdate();'],
    ['client-app/a.ts', 'query.forUpdate();'],
  ])('%s: %s is allowed', (path, text) => {
    expect(findRowLocks([{ path, text }])).toEqual([]);
  });
});

describe('threads', () => {
  const shapes = "import Type from 'typebox';";
  test('a package is found through any number of files', () => {
    const files = repository(
      ['server/a-thread.ts', "import './b.ts';"],
      ['server/b.ts', "import '@y/contract/c.ts'; import 'node:fs';"],
      ['contract/c.ts', shapes],
    );
    expect(checkThreadImports(files, manifests)).toEqual([
      expect.stringContaining('server/a-thread.ts loads typebox by contract/c.ts:1'),
    ]);
  });

  test('types, packages of other files, and direct imports of the thread are allowed', () => {
    const files = repository(
      ['server/a-thread.ts', "import type { C } from '@y/contract/c.ts'; import './b.ts'; import 'pg';"],
      ['server/b.ts', ''],
      ['contract/c.ts', shapes],
      ['server/main.ts', "import 'pg'; new URL('./a-thread.ts', import.meta.url);"],
    );
    expect(checkThreadImports(files, manifests)).toEqual([]);
  });
});
