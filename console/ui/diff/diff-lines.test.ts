import { expect, test } from 'vitest';
import { diffLines } from './diff-lines.ts';

const join = (...lines: string[]) => `${lines.join('\n')}\n`;

test('a changed line has its number in both files, with three lines around it', async () => {
  const before = join('1', '2', '3', '4', 'old', '6', '7', '8', '9');
  const after = join('1', '2', '3', '4', 'new', 'more', '6', '7', '8', '9');
  expect(await diffLines(before, after)).toEqual([
    { kind: 'same', before: 2, after: 2, text: '2' },
    { kind: 'same', before: 3, after: 3, text: '3' },
    { kind: 'same', before: 4, after: 4, text: '4' },
    { kind: 'removed', before: 5, text: 'old' },
    { kind: 'added', after: 5, text: 'new' },
    { kind: 'added', after: 6, text: 'more' },
    { kind: 'same', before: 6, after: 7, text: '6' },
    { kind: 'same', before: 7, after: 8, text: '7' },
    { kind: 'same', before: 8, after: 9, text: '8' },
  ]);
});

test('changes that are far apart have a gap between them, and equal texts no lines', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const kinds = (await diffLines(join('a', ...lines, 'b'), join('c', ...lines, 'd')))?.map(
    ({ kind }) => kind,
  );
  expect(kinds?.filter((kind) => kind === 'gap')).toHaveLength(1);
  expect(await diffLines('same\n', 'same\n')).toEqual([]);
});

test('an added file has all its lines, and a missing newline at its end is no line', async () => {
  expect(await diffLines('', 'one\ntwo')).toEqual([
    { kind: 'added', after: 1, text: 'one' },
    { kind: 'added', after: 2, text: 'two' },
  ]);
});

test('texts without a common line are given up after a second', async () => {
  const fill = (word: string) => Array.from({ length: 200_000 }, (_, index) => `${word}${index}`).join('\n');
  const started = performance.now();
  await diffLines(fill('a'), fill('b'));
  expect(performance.now() - started).toBeLessThan(10_000);
});
