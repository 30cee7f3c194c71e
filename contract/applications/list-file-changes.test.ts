import { expect, test } from 'vitest';
import type { ExecutableFile } from './executables.ts';
import { listFileChanges } from './list-file-changes.ts';

const file = (path: string, values: Partial<ExecutableFile> = {}): ExecutableFile => ({
  path,
  kind: 'file',
  size: 1,
  executable: false,
  sha256: 'a',
  target: null,
  ...values,
});

test('files differ by content, link target or executable bit, and are listed by path', () => {
  const before = [
    file('same'),
    file('content'),
    file('bit'),
    file('link', { kind: 'link', sha256: null, target: 'x' }),
    file('gone'),
  ];
  const after = [
    file('same'),
    file('content', { sha256: 'b' }),
    file('bit', { executable: true }),
    file('link', { kind: 'link', sha256: null, target: 'y' }),
    file('fresh'),
  ];
  expect(listFileChanges(before, after).map(({ path, kind }) => [path, kind])).toEqual([
    ['bit', 'changed'],
    ['content', 'changed'],
    ['fresh', 'added'],
    ['gone', 'removed'],
    ['link', 'changed'],
  ]);
  expect(listFileChanges(before, before)).toEqual([]);
});
