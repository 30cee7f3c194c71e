/** The law of exports finds what no other file imports. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findUnusedExports } from './unused-exports.ts';

function writeRepository(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-exports-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

test('unused exports, types and files are found, used ones are not', () => {
  const folder = writeRepository({
    'package.json': '{ "name": "fixture", "type": "module" }',
    'knip.json': '{ "entry": ["main.ts", "a.test.ts"], "project": ["**/*.ts"], "includeEntryExports": true }',
    'main.ts':
      "import { used, type UsedType } from './a.ts';\nconst one: UsedType = used;\nconsole.log(one);\n",
    'a.test.ts': "import { usedByTest } from './a.ts';\nusedByTest();\n",
    'a.ts': [
      'export const used = 1;',
      'export type UsedType = number;',
      'export function usedByTest() {}',
      'export const inside = 2;',
      'console.log(inside);',
      'export interface Nowhere {}',
    ].join('\n'),
    'orphan.ts': 'console.log(1);\n',
  });
  const found = findUnusedExports(folder, 'knip.json').map(({ path, line, message }) =>
    [path, line, message.split(',')[0]?.split(':')[0]].join(' '),
  );
  expect(found.sort()).toEqual([
    'a.ts 4 exports inside',
    'a.ts 6 exports Nowhere',
    'orphan.ts 1 is imported by no file',
  ]);
});

test('an unreadable repository is an error', () => {
  const folder = writeRepository({ 'package.json': '{ "name": "fixture" }' });
  expect(() => findUnusedExports(folder, 'missing.json')).toThrow(/^knip failed with exit code /);
});
