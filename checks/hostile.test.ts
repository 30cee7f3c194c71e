/** server/HOSTILE.md names the test of each hostile input, and every named test exists. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.ts';

const rows = readFileSync(`${ROOT}/server/HOSTILE.md`, 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!class |---)/.test(line))
  .map((line) => line.split(' | ').at(-1)?.replace(/\|$/, '').trim() ?? '');

test('every row of the table of hostile input names an existing test', () => {
  expect(rows.length).toBeGreaterThan(40);
  const missing = rows.filter((named) => {
    const [, path, title] = /^`([^`]+)`: (.+)$/.exec(named) ?? [];
    return !path || !title || !existsSync(`${ROOT}/${path}`) || !has(path, title);
  });
  expect(missing, 'Correct server/HOSTILE.md, or restore the test.').toEqual([]);
});

function has(path: string, title: string): boolean {
  const text = readFileSync(`${ROOT}/${path}`, 'utf8');
  return [`'${title}'`, `"${title}"`].some((quoted) => text.includes(quoted));
}
