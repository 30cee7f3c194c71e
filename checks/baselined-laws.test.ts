/** This repository has at most as many violations of the baselined laws as its baselines allow. */
import { describe, expect, test } from 'vitest';
import { BASELINED_LAWS } from './baselined-laws.ts';
import { compareWithBaseline, countByFile, findExceeded, readBaseline, updateBaseline } from './baselines.ts';
import { readTextFiles } from './source-files.ts';
import { formatViolation } from './violation.ts';

const sources = readTextFiles();

test.each(BASELINED_LAWS.map((law) => ({ name: law.name, law })))(
  '$name: violations do not exceed the baseline',
  ({ law }) => {
    const violations = law.findViolations(sources);
    const counts = countByFile(violations);
    const baseline = readBaseline(law);
    const worse = findExceeded(counts, baseline);
    const fewer = compareWithBaseline(counts, baseline).filter(
      ({ allowed, count }) => count < allowed,
    ).length;
    if (fewer > 0)
      console.log(
        `${law.name}: ${fewer} files have fewer violations than allowed. Run: npm run laws -- update`,
      );
    const places = worse.flatMap(({ path, allowed, count }) => [
      `${path} has ${count} violations, ${allowed} are allowed. Correct the new one:`,
      ...violations.filter((violation) => violation.path === path).map(formatViolation),
    ]);
    expect(places).toEqual([]);
  },
  // The laws of words read every sentence of this repository, which takes a minute on a busy machine.
  180_000,
);

describe('baselines', () => {
  const at = (path: string) => ({ path, line: 1, message: 'is wrong' });

  test('violations are counted per file', () => {
    expect(countByFile([at('a.ts'), at('b.ts'), at('a.ts')])).toEqual({ 'a.ts': 2, 'b.ts': 1 });
  });

  test('a comparison lists files with more, fewer, new and no violations', () => {
    const counts = { 'a.ts': 2, 'b.ts': 1, 'new.ts': 1, 'same.ts': 3 };
    const baseline = { 'a.ts': 1, 'b.ts': 2, 'gone.ts': 1, 'same.ts': 3 };
    expect(compareWithBaseline(counts, baseline)).toEqual([
      { path: 'a.ts', allowed: 1, count: 2 },
      { path: 'b.ts', allowed: 2, count: 1 },
      { path: 'gone.ts', allowed: 1, count: 0 },
      { path: 'new.ts', allowed: 0, count: 1 },
    ]);
  });

  test('moving a violation within a package is allowed, adding one is not', () => {
    const baseline = { 'server/a.ts': 2, 'site/a.ts': 1 };
    expect(findExceeded({ 'server/a.ts': 1, 'server/b.ts': 1, 'site/a.ts': 1 }, baseline)).toEqual([]);
    expect(findExceeded({ 'server/a.ts': 3, 'site/a.ts': 0 }, baseline)).toEqual([
      { path: 'server/a.ts', allowed: 2, count: 3 },
    ]);
    expect(findExceeded({ 'server/a.ts': 1, 'site/a.ts': 1, 'site/b.ts': 1 }, baseline)).toEqual([
      { path: 'site/b.ts', allowed: 0, count: 1 },
    ]);
  });

  test('an update lowers counts and raises none', () => {
    const counts = { 'a.ts': 2, 'b.ts': 1, 'new.ts': 1 };
    const baseline = { 'a.ts': 1, 'b.ts': 2, 'gone.ts': 1 };
    expect(updateBaseline(counts, baseline)).toEqual({ 'a.ts': 1, 'b.ts': 1 });
    expect(updateBaseline(counts, baseline, { mayRaise: true })).toEqual(counts);
  });
});
