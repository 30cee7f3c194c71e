import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { expect, inject, test } from 'vitest';

test.skipIf(!hasBrowser)('B16: the short form of the benchmark site runs', async () => {
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'bench.mjs');
  const command = [script, 'quick', 'site', '--built', inject('builtSite')];
  const { stdout } = await promisify(execFile)(process.execPath, command);
  expect(stdout).toMatch(/\| a long guide \| Switchyard \| \d/);
  expect(stdout).not.toMatch(/NaN|undefined/);
});
