/** The search over versions that cannot be tested, that drift, or that heal again. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { findChanges } from './effects.ts';
import { type RoundOutcome, runSearch, type SearchResult, type SearchSettings } from './search.ts';
import { estimateRounds } from './worse-test.ts';

const DIFFERENCE = 0.05;

function createSettings(versions: number, changes: Partial<SearchSettings> = {}): SearchSettings {
  return {
    versions: Array.from({ length: versions }, (_, index) => `v${index}`),
    difference: DIFFERENCE,
    confidence: 0.95,
    runsPerRound: 2,
    maximumRuns: 10_000,
    ...changes,
  };
}

/** Searches to the end; `draw` returns the effect of one round with the version of this index, null if it cannot be tested. */
function search(settings: SearchSettings, draw: (version: number) => number | null): SearchResult {
  const rounds = new Map<string, RoundOutcome[]>();
  const broken = new Set<string>();
  for (;;) {
    const result = runSearch(settings, (version) => ({
      rounds: rounds.get(version) ?? [],
      obstacle: broken.has(version) ? `${version} is broken.` : null,
    }));
    if (result.next === null) return result;
    const { version, count, reference } = result.next;
    const known = rounds.get(version) ?? [];
    for (let round = 0; round < count; round += 1) {
      const effect = draw(Number(version.slice(1)));
      if (effect === null) broken.add(version);
      const bad = reference === null ? null : draw(Number(reference.slice(1)));
      known.push({ state: 'ended', effect, ahead: effect === null || bad === null ? null : effect - bad });
    }
    rounds.set(version, known);
  }
}

/** Lists all subsets of the numbers from 1 to `last`. */
const listSubsets = (last: number): number[][] =>
  last < 1 ? [[]] : listSubsets(last - 1).flatMap((subset) => [subset, [...subset, last]]);

test.for([2, 3, 4, 5, 6, 7, 8])(
  'among %i versions, every culprit is found as far as the versions that can be tested tell it apart',
  (count) => {
    const settings = createSettings(count);
    const last = count - 1;
    for (const broken of listSubsets(last - 1))
      for (let culprit = 1; culprit <= last; culprit += 1) {
        const result = search(settings, (version) =>
          broken.includes(version) ? null : version >= culprit ? DIFFERENCE : 0,
        );
        const tested = settings.versions.flatMap((_, index) => (broken.includes(index) ? [] : [index]));
        const lastGood = Math.max(...tested.filter((version) => version < culprit));
        const firstBad = Math.min(...tested.filter((version) => version >= culprit));
        expect(result).toMatchObject({
          ending: firstBad - lastGood === 1 ? 'found' : 'skipped',
          lastGood: `v${lastGood}`,
          firstBad: `v${firstBad}`,
        });
        // A skipped version costs a step, but never a further test: the errors of all tests add up as without it.
        const tests = result.steps.filter(({ obstacle }) => obstacle === null);
        expect(tests.length).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(last)));
        // The culprit is one of the versions that are left, with the confidence of the search.
        const left = settings.versions.slice(lastGood + 1, firstBad + 1);
        const total = left.reduce((sum, version) => sum + (result.posterior.get(version) ?? 0), 0);
        expect(total).toBeGreaterThanOrEqual(0.95 - 1e-12);
      }
  },
);

test('skipped versions use up the runs like others', () => {
  const result = search(createSettings(9, { maximumRuns: 32 }), (version) =>
    version === 4 ? null : DIFFERENCE,
  );
  expect(result).toMatchObject({ ending: 'narrowed', lastGood: 'v0', firstBad: 'v8' });
});

test('runs that were deleted count for the maximum', () => {
  const settings = createSettings(4, { maximumRuns: 60, plannedRuns: 60 });
  expect(runSearch(settings, () => ({ rounds: [], obstacle: null }))).toMatchObject({
    next: null,
    ending: 'undecided',
  });
});

describe('effects that are no single step', () => {
  const SEARCHES = 100;

  test('T11: a drift over ten versions ends at a part of it, and the bad version is worse again', () => {
    const random = new RandomGenerator('bisect drift');
    let [small, again] = [0, 0];
    for (let index = 0; index < SEARCHES; index += 1) {
      const result = search(
        createSettings(11, { maximumRuns: 4000 }),
        (version) => 0.012 * version + 0.005 * random.normal(),
      );
      expect(result.ending).toBe('found');
      const { change, later } = findChanges(result, DIFFERENCE);
      if (change && change.interval.high < DIFFERENCE) small += 1;
      if (later) again += 1;
    }
    expect(small).toBeGreaterThanOrEqual(SEARCHES * 0.95);
    expect(again).toBeGreaterThanOrEqual(SEARCHES * 0.5);
  });

  test('a regression that healed before the bad version is not worse', () => {
    const result = search(createSettings(9), (version) => (version >= 3 && version < 6 ? DIFFERENCE : 0));
    expect(result).toMatchObject({ ending: 'not_worse', firstBad: null, lastGood: 'v0' });
    // Eight rounds have the same sign for half of the difference, as for the whole of it.
    expect(result.roundsForHalf).toBeGreaterThanOrEqual(result.steps[0]?.rounds ?? 0);
  });

  test('the rounds of a search for half of a difference near the largest double are a number', () => {
    // Without a deviation the logarithm grows by 1/2 in a round: 2 ln(4 / 0.05) = 8.8.
    expect(estimateRounds(0.05, 1, 1e307)).toBe(9);
  });

  test('one that healed and came back ends between a version that is not worse and one that is', () => {
    const isWorse = (version: number) => (version >= 2 && version < 5) || version >= 7;
    const result = search(createSettings(12), (version) => (isWorse(version) ? DIFFERENCE : 0));
    expect(result.ending).toBe('found');
    const [lastGood, firstBad] = [Number(result.lastGood.slice(1)), Number(result.firstBad?.slice(1))];
    expect(firstBad).toBe(lastGood + 1);
    expect([isWorse(lastGood), isWorse(firstBad)]).toEqual([false, true]);
  });
});
