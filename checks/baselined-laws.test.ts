/** This repository has at most as many violations of the baselined laws as its baselines allow. */
import { describe, expect, test } from 'vitest';
import { BASELINED_LAWS } from './baselined-laws.ts';
import { compareWithBaseline, countByFile, findExceeded, readBaseline, updateBaseline } from './baselines.ts';
import { computeCeiling, measureSizes } from './sizes.ts';
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
);

test('no size of the tree exceeds its ceiling', () => {
  const ceilings = readBaseline({ name: 'sizes' });
  const exceeded = Object.entries(measureSizes(sources)).filter(
    ([name, size]) => size > (ceilings[name] ?? 0),
  );
  expect(exceeded).toEqual([]);
});

describe('sizes', () => {
  const measure = (files: Record<string, string>) =>
    measureSizes(Object.entries(files).map(([path, text]) => ({ path, text })));

  test('lines of the product count, those of tests do not', () => {
    const sizes = measure({
      'server/a.ts': 'f();\ng();\n',
      'server/a.test.ts': 'f();\n',
      'bench/a.ts': 'f();\n',
    });
    expect(sizes).toMatchObject({ 'lines of server': 2 });
    expect(Object.keys(sizes).filter((name) => name.startsWith('lines of'))).toHaveLength(1);
    expect(computeCeiling('lines of server', 2)).toBe(500);
  });

  test('types and tables outside their folders, and functions with one importer', () => {
    const sizes = measure({
      'server/experiments/bisect/a.ts': "export function f() { return 'bisect'; }",
      'server/b.ts': "import { f } from './experiments/bisect/a.ts'; f() === 'bisect';",
      'console/pages/a.tsx': 'const a = <table />;',
      'console/ui/data-table.tsx': 'export const A = () => <table />;',
    });
    expect(sizes).toMatchObject({
      'files that name an experiment type outside its folder': 1,
      'files with <table> outside console/ui/data-table': 1,
      'exported functions with one importer': 1,
    });
  });
});

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
