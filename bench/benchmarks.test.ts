/** The short form of every benchmark runs to its end and prints figures. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { expect, test } from 'vitest';

const SCRIPTS = join(import.meta.dirname, '..', 'scripts');
const benchmarks: { name: string }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'benchmarks.json'), 'utf8'),
);

// The benchmark of the site needs the built site; bench/site/site.test.ts runs it.
test.each(benchmarks.filter(({ name }) => name !== 'site' && (name !== 'console' || hasBrowser)))(
  'B16: the short form of the benchmark $name runs',
  async ({ name }) => {
    const command = [join(SCRIPTS, 'bench.mjs'), 'quick', name];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    expect(stdout).toMatch(/ratio|share of|\(medians\)|gap|p99/);
    expect(stdout).toMatch(/\d/);
    expect(stdout).not.toMatch(/NaN|undefined/);
  },
  // It takes seconds on an idle machine, and much longer on a busy one.
  300_000,
);
