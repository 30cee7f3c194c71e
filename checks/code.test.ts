/** Laws about sources and tests: each holds for this repository, and each finds its examples of violations. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  findAnyTypes,
  findLongFiles,
  findOtherFormats,
  findPrivatePaths,
  findSilencedErrors,
  findUnescapedPatterns,
  findUnfinishedMarks,
  LINES_MAX,
} from './code-laws.ts';
import {
  isCode,
  isTest,
  isTesting,
  ROOT,
  readTextFiles,
  SKIPPED_NAMES,
  type Source,
} from './source-files.ts';
import { findRepeatedTitles, findSkippedTests, findSleeps } from './test-laws.ts';

const files = readTextFiles();
const code = files.filter(isCode);
const tests = code.filter(({ path }) => isTest(path));
const product = code.filter((source) => !isTesting(source.path));
const testing = code.filter(({ path }) => isTesting(path));

type Law = (source: Source) => string[];

describe('this repository', () => {
  test.each<[string, Law, Source[]]>([
    ['names its types', findAnyTypes, code],
    ['corrects the findings of the type checker', findSilencedErrors, code],
    ['has no postponed work', findUnfinishedMarks, files],
    ['has files of a readable length', findLongFiles, code],
    ['B3: escapes text in regular expressions', findUnescapedPatterns, product],
    ['W3: formats numbers in one module', findOtherFormats, product],
    ['names no place on one machine', (source) => findPrivatePaths(source), files],
    ['runs all its tests', findSkippedTests, tests],
    ['gives each test a unique name', findRepeatedTitles, tests],
    ['waits for signals instead of time', findSleeps, testing],
  ])('%s', (_, law, sources) => {
    expect(sources.flatMap((source) => law(source))).toEqual([]);
  });
});

test('B17: git ignores the files that tools write into the work tree', () => {
  const ignored = readFileSync(`${ROOT}/.gitignore`, 'utf8').split('\n');
  const left = [...SKIPPED_NAMES].filter((name) => name !== '.git' && !ignored.includes(`${name}/`));
  expect(left).toEqual([]);
  expect(SKIPPED_NAMES).toContain('.hypothesis');
  expect(SKIPPED_NAMES).toContain('.schemathesis');
});

function found(law: Law, text: string, path = 'server/a.test.ts'): string[] {
  return law({ path, text });
}

const cases: Record<string, { law: Law; forbidden: string[]; allowed: string[] }> = {
  'W3: number formatted elsewhere': {
    law: (source) => findOtherFormats({ ...source, path: 'cli/a.ts' }),
    forbidden: [
      "const a = new Intl.NumberFormat('en-GB');",
      'const a = value.toLocaleString();',
      'export function formatBytes(bytes: number): string {',
      'const a = `${(100 * share).toFixed(1)} %`;',
      'const a = `${Math.round(seconds)} s`;',
      'const a = `${Math.ceil(ms / 60_000)} min`;',
      'const a = `${Math.floor(bytes / 1000)} kB`;',
    ],
    allowed: ['const a = `x="${x.toFixed(1)}"`;', 'const a = formatBytes(5);', 'function formatWaiting() {}'],
  },
  'any type': {
    law: findAnyTypes,
    forbidden: [
      'const a = b as any;',
      'function f(a: any) {}',
      'const a = <any>b;',
      'type A = Map<string, any>;',
    ],
    allowed: [
      'const any = 1; // as any',
      "const a = 'as any';",
      'expect.any(String);',
      'const a = b as unknown;',
    ],
  },
  'silenced error': {
    law: findSilencedErrors,
    forbidden: ['// @ts-ignore\nf(1);', '/* @ts-expect-error: why */ f(1);', '// @ts-nocheck'],
    allowed: ["const a = '// @ts-ignore';", '// ts-ignore is not used here.'],
  },
  'mark of postponed work': {
    law: findUnfinishedMarks,
    forbidden: ['// TODO: more', '/** FIXME */', 'f(); // XXX'],
    allowed: ["const a = 'TODO';", '// The word todo in a sentence, and TODOS.'],
  },
  'unescaped pattern': {
    law: findUnescapedPatterns,
    forbidden: [
      'new RegExp(text);',
      'RegExp(text);',
      ['new RegExp(`^', '{text}`, "u");'].join('$'),
      'new RegExp("^" + text);',
    ],
    allowed: [
      '/a/.test(text);',
      "new RegExp('[a-z]+');",
      ['new RegExp(`(', '{texts.map(escapeRegExp).join("|")})`);'].join('$'),
      'new RegExp(RegExp.escape(text));',
      'new RegExp(ID_PATTERN);',
      ['new RegExp(`', '{NAME}=', '{pattern}`);'].join('$'),
      "'new RegExp(text)';",
    ],
  },
  'test that does not run': {
    law: findSkippedTests,
    forbidden: [
      "test.only('a', () => {});",
      "describe.only('a', () => {});",
      "test.concurrent.only('a', () => {});",
      "test.only.each([1])('a', () => {});",
      "it.skip('a', () => {});",
      "test.todo('a');",
      "test.fails('a', () => {});",
      "describe.skip.each([1])('a', () => {});",
      "test('a', (context) => { context.skip(); });",
      "test('a', ({ skip }) => { other.skip(true); });",
      "test.skipIf(process.platform === 'win32')('a', () => {});",
      "test.runIf(hosts.length > 1)('a', () => {});",
    ],
    allowed: [
      "test('a', () => {});",
      "test.each([1])('only %i', () => {});",
      "test('a', (context) => { context.skip('no bubblewrap here'); });",
      "test('a', (context) => { context.skip(!there, 'no Python here'); });",
      "// Windows has no signals.\ntest.skipIf(process.platform === 'win32')('a', () => {});",
      "describe.skipIf(!hasPython)('a', () => {});",
      "test.runIf(hasPython)('a', () => {});",
      "describe.skipIf(runner === undefined)('a', () => {});",
      '// test.only is found',
    ],
  },
  'repeated title': {
    law: findRepeatedTitles,
    forbidden: [
      "test('a', () => {}); test('a', () => {});",
      "test('a', () => {}); it('a', () => {});",
      "describe('g', () => { test('a', f); test.each([1])('a', f); });",
      "describe('g', () => { test('a', f); }); describe('g', () => { test('a', f); });",
    ],
    allowed: [
      "test('a', f); test('b', f);",
      "test('a', f); describe('g', () => { test('a', f); });",
      "describe('g', () => { test('a', f); }); describe('h', () => { test('a', f); });",
      "pattern.test('a'); pattern.test('a');",
      'for (const one of all) test(one, f);',
    ],
  },
  sleep: {
    law: findSleeps,
    forbidden: [
      'await new Promise((r) => setTimeout(r, 100));',
      'await new Promise<void>((resolve) => { setTimeout(resolve, 100); });',
      'await new Promise(function (done) { setTimeout(() => { done(); }, 5); });',
      'await new Promise((resolve) => globalThis.setTimeout(() => resolve(1), 5));',
      "import { setTimeout } from 'node:timers/promises';",
      "import { scheduler } from 'timers/promises';",
      'const sleep = promisify(setTimeout);',
      'Atomics.wait(cells, 0, 0, 100);',
    ],
    allowed: [
      "await new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 5000));",
      "await new Promise((resolve, reject) => { const t = setTimeout(reject, 9); on('x', () => resolve(t)); });",
      "await new Promise((resolve) => child.once('exit', resolve));",
      'vi.useFakeTimers(); clock.advance(100);',
      'setTimeout(() => child.kill(), 100);',
    ],
  },
};

describe.each(Object.entries(cases))('%s', (_, { law, forbidden, allowed }) => {
  test.each(forbidden)('%s is found', (text) => {
    expect(found(law, text)).toHaveLength(1);
  });
  test.each(allowed)('%s is allowed', (text) => {
    expect(found(law, text)).toEqual([]);
  });
});

describe('other files', () => {
  test('a mark is found in every line of a text file', () => {
    const text = 'fine\n# TODO: more\n';
    expect(found(findUnfinishedMarks, text, 'sample-apps/a/main.py')).toEqual([
      expect.stringContaining('main.py:2 has a TODO'),
    ]);
  });

  test('a file one line too long is found, and the final newline is not a line', () => {
    const lines = 'f();\n'.repeat(LINES_MAX);
    expect(found(findLongFiles, lines, 'server/a.ts')).toEqual([]);
    expect(found(findLongFiles, `${lines}f();`, 'server/a.test.ts')).toEqual([]);
    expect(found(findLongFiles, `${lines}f();`, 'server/a.ts')).toEqual([
      expect.stringContaining(`has ${LINES_MAX + 1} lines`),
    ]);
  });
});

describe('places on one machine', () => {
  const law: Law = (source) => findPrivatePaths(source, ['/srv/checkout', '/opt', '/']);

  test.each([
    'cd /srv/checkout && npm test',
    '"/srv/checkout/contract"',
    ['', 'root', '.config'].join('/'),
    ['const a = "', 'home', 'ada/project";'].join('/'),
    ['', 'Users', 'ada/x'].join('/'),
    ['', 'work', 'project'].join('/'),
  ])('%s is found', (text) => {
    expect(found(law, text)).toEqual([expect.stringContaining('a place on one machine')]);
  });

  test.each([
    '/srv/checkouts',
    '/opt/node/bin',
    '--tmpfs /root --chdir /home',
    '/srv/checkout-2',
    'https://example.com/home/page/',
    'executables/<hash>/root/main.ts',
    './home/page/',
    'docs/work/page',
    'GET /v1/root-token',
  ])('%s is allowed', (text) => {
    expect(found(law, text)).toEqual([]);
  });
});
