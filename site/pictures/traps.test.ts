/** The pictures of mistakes: the files are up to date, and the pages state their numbers. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listCopies, listPointComparisons, listRollbacks, TRAPS } from './statistics/draw-traps.ts';

const folder = join(import.meta.dirname, '../content/using-switchyard');
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const formatPercent = ({ share }: { share: number }) => `${Math.round(100 * share)} %`;

test.each([
  ['experiments/acceptance-points', 'experiments/acceptance'],
  ['experiments/shadow-copies', 'experiments/shadow'],
  ['deploy/release-rollbacks', 'deploy/release-from-git'],
])('%s is up to date and stands on the page', (path, page) => {
  expect(read(`${path}.svg`).trim()).toBe(TRAPS[path]?.());
  expect(read(`${page}.md`)).toContain(`src="${basename(path)}.svg"`);
});

describe('the pages state the numbers of these pictures', () => {
  test('T3: the share of plain comparisons that a candidate at twice the tolerance meets', () => {
    const [mean, p50, p95, max, deviation] = listPointComparisons().map(formatPercent);
    expect(read('experiments/acceptance.md')).toContain(
      `${mean} for the mean, ${p50} for p50, ${p95} for p95, ${max} for the maximum and ${deviation} for the standard deviation`,
    );
  });

  test('T2: the share of shadow tests with a verdict on equal sides', () => {
    const copies = listCopies();
    const [one, two, five, ten] = copies.map(formatPercent);
    expect(read('experiments/shadow.md')).toContain(
      `${one} where all inputs differ, ${two} with each input sent twice, ${five} with five times and ${ten} with ten times. Short lines at 1 %`,
    );
    expect(copies.map(({ product }) => Math.round(100 * product))).toEqual([1, 1, 1, 1]);
  });

  test('T5: the share of releases that go back although both versions fail equally often', () => {
    const rollbacks = listRollbacks();
    // Sums of binomial probabilities in Python, by math.comb.
    for (const [index, share] of [
      0.086_290_62, 0.222_073_02, 0.236_461_97, 0.155_521_24, 0.116_375_89,
    ].entries())
      expect(rollbacks[index]?.share).toBeCloseTo(share, 6);
    const [half, two, five, ten, thirty] = rollbacks.map(formatPercent);
    expect(read('deploy/release-from-git.md')).toContain(
      `${half} where 0.5 % of runs fail, ${two} at 2 %, ${five} at 5 %, ${ten} at 10 % and ${thirty} at 30 %. Short lines at 0 %`,
    );
    for (const { product } of rollbacks) expect(product).toBeLessThan(0.005);
  });
});
