import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { listPageFiles } from './testing/built-site.ts';

test('B11: the home page announces no existing feature as planned', () => {
  const home = readFileSync(join(inject('builtSite'), 'index.html'), 'utf8');
  expect(home).toMatch(/Experiments compare versions/);
  expect(home).not.toMatch(/being built|not built|comes? next|soon/);
});

test('the home page and the header of every page lead to the console', () => {
  const folder = inject('builtSite');
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  for (const path of listPageFiles())
    expect(read(path), path).toContain('<a class="open-console" href="/console">Open console</a>');
  expect(read('index.html')).toMatch(/<main[\s\S]*<a href="\/console">Open console<\/a>[\s\S]*<\/main>/);
});
