/** The pictures about statistics: the files are up to date, and the page states their numbers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  listIntervals,
  listPairs,
  listPeeking,
  listTies,
  listVersions,
  PICTURES,
  UNITS,
} from './statistics/draw-statistics.ts';
import { computeCarryOver, computeNormalShare, computePower } from './statistics/simulate.ts';

const folder = join(import.meta.dirname, '../content/using-switchyard/experiments');
const page = readFileSync(join(folder, 'statistics.md'), 'utf8');
const formatPercent = (share: number) => `${Math.round(100 * share)} %`;

test.each(Object.entries(PICTURES))('%s is up to date and stands on the page', (name, draw) => {
  expect(readFileSync(join(folder, `${name}.svg`), 'utf8').trim()).toBe(draw());
  expect(page).toContain(`src="${name}.svg"`);
});

describe('the page states the numbers of its pictures', () => {
  test('paired differences', () => {
    const pairs = listPairs();
    const costs = pairs.flatMap(({ control, candidate }) => [control, candidate]);
    const changes = pairs.map(({ control, candidate }) => 100 * (1 - candidate / control));
    expect(page).toContain(`from ${Math.min(...costs).toFixed(0)} to ${Math.max(...costs).toFixed(0)}`);
    expect(page).toContain(
      `between minus ${Math.min(...changes).toFixed(1)} and minus ${Math.max(...changes).toFixed(1)} %`,
    );
  });

  test('one of twenty intervals misses the true change', () => {
    expect(
      listIntervals()
        .map(({ isMiss }) => isMiss)
        .filter(Boolean),
    ).toEqual([true]);
    expect(listIntervals()).toHaveLength(20);
  });

  test('the inputs for a power of 80 %', () => {
    const findInputs = (effect: number) => {
      let inputs = 1;
      while (computePower(inputs, effect) < 0.8) inputs += 1;
      return inputs;
    };
    const [first, second, third] = [0.8, 0.4, 0.2].map(findInputs);
    expect(page).toContain(`at ${first}, at ${second} and, outside of the picture, at ${third} inputs`);
  });

  test('the share of A/A tests with a verdict, which theory gives for these looks', () => {
    const shares = listPeeking().map(({ share }) => share);
    // Armitage, McPherson and Rowe (1969), table 2: 1, 2, 5, 10 and 20 looks at 5 %.
    for (const [index, theory] of [0.05, 0.083, 0.142, 0.193, 0.248].entries())
      expect(Math.abs((shares[index] ?? 0) - theory)).toBeLessThan(0.02);
    const [one, two, five, ten, twenty] = shares.map(formatPercent);
    expect(page.replaceAll('\n', ' ')).toContain(
      `${one} with one look, ${two} with two, ${five} with five, ${ten} with ten and ${twenty} with twenty looks`,
    );
  });

  test('T2: the share of A/A tests with a verdict, which theory gives for these versions', () => {
    const shares = listVersions().map(({ share }) => share);
    // The sum of 20 / v changes, each v times: its variance is v times as large as that of 20 independent ones.
    for (const [index, versions] of [1, 2, 4, 10].entries()) {
      const theory = 2 * (1 - computeNormalShare(1.96 / Math.sqrt(versions)));
      expect(Math.abs((shares[index] ?? 0) - theory)).toBeLessThan(0.02);
    }
    const [one, two, four, ten] = shares.map(formatPercent);
    expect(page.replaceAll('\n', ' ')).toContain(
      `${one} for twenty instances, ${two} with two versions of each of ten, ${four} with four and ${ten} with ten versions`,
    );
  });

  test('T1: the chance that all inputs tie', () => {
    const shares = listTies().map(({ share }) => share);
    expect(shares).toEqual([10, 20, 50, 100].map((inputs) => 0.95 ** inputs));
    const [ten, twenty, fifty] = shares.map(formatPercent);
    expect(page.replaceAll('\n', ' ')).toContain(
      `${ten} with ten inputs, ${twenty} with 20, ${fifty} with 50 and 0.6 % with 100`,
    );
    // The rule of three, exactly.
    expect(page).toContain(`up to ${formatPercent(1 - 0.05 ** (1 / 10))} of other inputs may differ`);
  });

  test('carry-over', () => {
    const [, , third, fourth, fifth, sixth] = computeCarryOver(UNITS).map(formatPercent);
    expect(page).toContain(`is ${third} in the first unit of the candidate and ${fourth} in the second`);
    expect(page).toContain(`it is still ${fifth}, then ${sixth}`);
  });
});
