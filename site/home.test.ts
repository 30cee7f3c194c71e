import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

test('B11: the home page announces no existing feature as planned', () => {
  const home = readFileSync(join(inject('builtSite'), 'index.html'), 'utf8');
  expect(home).toMatch(/Experiments compare versions/);
  expect(home).not.toMatch(/being built|not built|comes? next|soon/);
});
