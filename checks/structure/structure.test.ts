/** The laws of functions and of the tree find violations, and accept correct code. */
import { describe, expect, test } from 'vitest';
import type { Source } from '../source-files.ts';
import { FUNCTION_LINES_MAX, functionLength, PARAMETERS_MAX, parameterCount } from './functions.ts';
import { catchAllNames, FOLDER_FILES_MAX, folderSize } from './names.ts';

const source = (text: string, path = 'server/a.ts'): Source => ({ path, text });
const createSources = (folder: string, count: number, ending = '.ts') =>
  Array.from({ length: count }, (_, index) => source('', `${folder}/file-${index}${ending}`));

describe('function length', () => {
  const body = (lines: number) => 'step();\n'.repeat(lines);
  const tooLong = `function f() {\n${body(FUNCTION_LINES_MAX - 1)}}`;

  test.each([
    ['a function', tooLong],
    ['an arrow function', `const f = () => {\n${body(FUNCTION_LINES_MAX - 1)}};`],
    ['a method', `class A { m() {\n${body(FUNCTION_LINES_MAX - 1)}} }`],
    ['a callback', `run(() => {\n${body(FUNCTION_LINES_MAX - 1)}});`],
  ])('%s of 71 lines is found', (_, text) => {
    expect(functionLength.findViolations([source(text)])).toEqual([
      expect.objectContaining({ path: 'server/a.ts', line: 1, message: expect.stringContaining('71 lines') }),
    ]);
  });

  test('a function of 70 lines is allowed', () => {
    const text = `function f() {\n${body(FUNCTION_LINES_MAX - 2)}}`;
    expect(functionLength.findViolations([source(text)])).toEqual([]);
  });

  test('the lines of JSX do not count', () => {
    const text = `function F() {\nreturn (\n<p>\n${'<b />\n'.repeat(FUNCTION_LINES_MAX)}</p>\n);\n}`;
    expect(functionLength.findViolations([source(text, 'console/a.tsx')])).toEqual([]);
  });

  test.each(['describe', 'test', 'test.each([1])', 'test.skipIf(isWindows)'])('%s lists cases', (call) => {
    const text = `${call}('a', () => {\n${body(FUNCTION_LINES_MAX)}});`;
    expect(functionLength.findViolations([source(text, 'server/a.test.ts')])).toEqual([]);
    expect(functionLength.findViolations([source(text)])).toHaveLength(1);
  });

  test('a helper inside a test body counts', () => {
    const text = `describe('a', () => {\n${tooLong}\n});`;
    expect(functionLength.findViolations([source(text, 'server/a.test.ts')])).toHaveLength(1);
  });
});

describe('parameter count', () => {
  const parameters = Array.from({ length: PARAMETERS_MAX + 1 }, (_, index) => `p${index}: string`);

  test.each([
    `export function f(${parameters}) {}`,
    `export const f = (${parameters}) => 1;`,
    `export default function f(${parameters}) {}`,
    'export function f(a = 1, [b]: X, { c }: Y, d?: Z, ...e: W[]) {}',
  ])('%s is found', (text) => {
    expect(parameterCount.findViolations([source(text)])).toHaveLength(1);
  });

  test.each([
    `export function f(${parameters.slice(1)}) {}`,
    `export function f(this: Server, ${parameters.slice(1)}) {}`,
    `function f(${parameters}) {}`,
    `class A { m(${parameters}) {} }`,
    `export type F = (${parameters}) => void;`,
    `export declare function f(${parameters}): void;`,
  ])('%s is allowed', (text) => {
    expect(parameterCount.findViolations([source(text)])).toEqual([]);
  });
});

describe('catch-all names', () => {
  test.each([
    'server/runs/common.ts',
    'server/platform/http/sentences.ts',
    'site/utils.test.ts',
    'scripts/helpers.mjs',
    'server/runs/index.ts',
    'site/styles/misc.css',
  ])('%s is found', (path) => {
    expect(catchAllNames.findViolations([source('', path)])).toEqual([expect.objectContaining({ path })]);
  });

  test('a folder is found once', () => {
    const files = createSources('server/helpers', 3);
    expect(catchAllNames.findViolations(files)).toEqual([
      { path: 'server/helpers', line: 1, message: expect.stringContaining('helpers') },
    ]);
  });

  test.each([
    'runner/index.ts',
    'sample-apps/knapsack/src/index.ts',
    'site/content/run/index.md',
    'site/pages/index.html',
    'server/runs/shared-volumes.ts',
    'server/testing/postgres.ts',
  ])('%s is allowed', (path) => {
    expect(catchAllNames.findViolations([source('', path)])).toEqual([]);
  });
});

describe('folder size', () => {
  test('26 source files in a folder are found', () => {
    expect(folderSize.findViolations(createSources('server/runs', FOLDER_FILES_MAX + 1))).toEqual([
      { path: 'server/runs', line: 1, message: expect.stringContaining('26 source files') },
    ]);
  });

  test('25 source files, their tests, sub-folders and other files are allowed', () => {
    const files = [
      ...createSources('server/runs', FOLDER_FILES_MAX),
      ...createSources('server/runs', FOLDER_FILES_MAX, '.test.ts'),
      ...createSources('server/runs', FOLDER_FILES_MAX, '.md'),
      ...createSources('server/runs/store', FOLDER_FILES_MAX),
    ];
    expect(folderSize.findViolations(files)).toEqual([]);
  });
});
