/** The search over simulated versions: positions of the culprit, noise, failures, and runs that are too few. */

import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import type { OutcomePair } from '../paired/units.ts';
import { computeRoundEffect, findChanges, NotPositiveError, type RoundScale } from './effects.ts';
import {
  countRunsMin,
  type RoundOutcome,
  runSearch,
  type SearchResult,
  type SearchSettings,
} from './search.ts';

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

/** Searches to the end; `draw` returns the effect of one round with the version of this index against the good one. */
function search(
  settings: SearchSettings,
  draw: (version: number) => number,
): SearchResult & { runs: number } {
  const rounds = new Map<string, RoundOutcome[]>();
  for (let runs = 0; ; ) {
    const result = runSearch(settings, (version) => ({ rounds: rounds.get(version) ?? [], obstacle: null }));
    if (result.next === null) return { ...result, runs };
    const { version, from, count, reference } = result.next;
    const known = rounds.get(version) ?? [];
    expect(known).toHaveLength(from);
    for (let round = 0; round < count; round += 1) {
      const effect = draw(Number(version.slice(1)));
      const ahead = reference === null ? null : effect - draw(Number(reference.slice(1)));
      known.push({ state: 'ended', effect, ahead });
    }
    rounds.set(version, known);
    runs += count * settings.runsPerRound * (reference === null ? 1 : 1.5);
    expect(runs).toBeLessThanOrEqual(settings.maximumRuns);
  }
}

describe('without noise', () => {
  test.for([2, 3, 4, 5, 9, 16, 33])(
    'every culprit among %i versions is found with the fewest runs',
    (count) => {
      const settings = createSettings(count);
      for (let culprit = 1; culprit < count; culprit += 1) {
        const result = search({ ...settings, maximumRuns: countRunsMin(settings) }, (version) =>
          version >= culprit ? 2 * DIFFERENCE : 0,
        );
        expect(result).toMatchObject({
          ending: 'found',
          lastGood: `v${culprit - 1}`,
          firstBad: `v${culprit}`,
          runsNeeded: null,
        });
        expect(result.posterior.get(`v${culprit}`)).toBeGreaterThanOrEqual(0.95);
        expect([...result.posterior.values()].reduce((total, each) => total + each, 0)).toBeCloseTo(1, 12);
      }
    },
  );

  test.for([0.2, 0.5, 0.9, 1])('T11: every culprit that is %d times the difference is found too', (size) => {
    for (let culprit = 1; culprit < 9; culprit += 1) {
      const draw = (version: number) => (version >= culprit ? size * DIFFERENCE : 0);
      const result = search(createSettings(9), draw);
      expect(result).toMatchObject({ ending: 'found', firstBad: `v${culprit}` });
      const { change, later } = findChanges(result, DIFFERENCE);
      expect(change?.effect).toBeCloseTo(size * DIFFERENCE, 12);
      expect(later).toBeNull();
    }
  });

  test('a version that fails from some point on is found', () => {
    const result = search(createSettings(16), (version) => (version >= 11 ? Infinity : 0));
    expect(result).toMatchObject({ ending: 'found', firstBad: 'v11' });
    expect(result.steps[0]).toMatchObject({ version: 'v15', decision: 'worse', effect: null });
  });

  test('equal versions end after the first step', () => {
    const result = search(createSettings(16), () => 0);
    expect(result).toMatchObject({ ending: 'not_worse', firstBad: null, lastGood: 'v0' });
    expect(result.steps).toHaveLength(1);
    expect(result.posterior.size).toBe(0);
  });

  test('rounds without information, whose runs were canceled, end with the runs', () => {
    const rounds: RoundOutcome[] = Array.from({ length: 40 }, () => ({ state: 'ended', effect: null }));
    const result = runSearch(createSettings(4, { maximumRuns: 80 }), () => ({ rounds, obstacle: null }));
    expect(result).toMatchObject({ ending: 'undecided', next: null });
  });
});

/** Rounds that are pending delay the decision, also when later rounds have ended. */
test('a pending round is waited for, and later rounds do not count before it', () => {
  const ended: RoundOutcome = { state: 'ended', effect: 1 };
  const result = runSearch(createSettings(4), () => ({
    rounds: [{ state: 'pending' }, ...Array(30).fill(ended)],
    obstacle: null,
  }));
  expect(result).toMatchObject({ next: null, ending: null });
});

/** Draws of the noise of a round, of standard deviation 1. */
const NOISES: Record<string, (random: RandomGenerator) => number> = {
  normal: (random) => random.normal(),
  heavy: (random) => random.normal() / Math.sqrt(-Math.log(random.uniform())) / 1.5,
  ties: (random) => (random.uniform() < 0.75 ? 0 : 2 * random.normal()),
};

describe('with noise', () => {
  const SEARCHES = 200;
  /** Two standard errors of a share of 5 % among 200. */
  const WRONG_MAX = SEARCHES * (0.05 + 2 * Math.sqrt((0.05 * 0.95) / SEARCHES));

  test.for([
    ...Object.keys(NOISES).flatMap((noise) => [0.5, 1].map((deviation) => ({ noise, deviation }))),
    { noise: 'normal', deviation: 2 },
  ])('$noise noise of $deviation differences: a wrong answer in at most 5 %', ({ noise, deviation }) => {
    const random = new RandomGenerator(`bisect ${noise} ${deviation}`);
    const settings = createSettings(9);
    const draw = NOISES[noise] ?? (() => 0);
    let [wrong, found] = [0, 0];
    for (let index = 0; index < SEARCHES; index += 1) {
      const culprit = 1 + random.integerBelow(8);
      const result = search(
        settings,
        (version) => (version >= culprit ? DIFFERENCE : 0) + deviation * DIFFERENCE * draw(random),
      );
      if (result.firstBad === `v${culprit}` && result.ending === 'found') found += 1;
      else if (result.ending === 'found' || result.ending === 'not_worse') wrong += 1;
    }
    expect(wrong).toBeLessThanOrEqual(WRONG_MAX);
    expect(found).toBeGreaterThanOrEqual(SEARCHES * 0.93);
  });

  test.for([0.5, 0.75])(
    'T11: a step of %d times the difference has a wrong answer in at most 5 %%',
    (size) => {
      const random = new RandomGenerator(`bisect ${size}`);
      let [wrong, found] = [0, 0];
      for (let index = 0; index < SEARCHES; index += 1) {
        const culprit = 1 + random.integerBelow(8);
        const draw = (version: number) =>
          (version >= culprit ? size * DIFFERENCE : 0) + DIFFERENCE * random.normal();
        const { ending, firstBad } = search(createSettings(9), draw);
        // That the bad version is not worse by the whole difference is right too.
        if (ending === 'found' && firstBad === `v${culprit}`) found += 1;
        else if (ending === 'found') wrong += 1;
      }
      expect(wrong).toBeLessThanOrEqual(WRONG_MAX);
      expect(found).toBeGreaterThan(0);
    },
  );

  test('T11: a search takes about as many rounds as a pairwise test of the whole difference', () => {
    const random = new RandomGenerator('bisect rounds');
    let [rounds, tests] = [0, 0];
    for (let index = 0; index < 100; index += 1) {
      const { steps } = search(
        createSettings(9),
        (version) => (version >= 5 ? DIFFERENCE : 0) + DIFFERENCE * random.normal(),
      );
      rounds += steps.reduce((total, step) => total + step.rounds, 0);
      tests += steps.length;
    }
    // Wald's test of 0 against the difference with these errors takes 2 ln(1 / error) = 2 ln(140) rounds of this noise.
    expect(rounds / tests).toBeLessThan(4 * 2 * Math.log(140));
  });

  test('equal versions have a culprit in at most 5 %', () => {
    const random = new RandomGenerator('bisect equal');
    const settings = createSettings(9);
    let wrong = 0;
    for (let index = 0; index < SEARCHES; index += 1)
      if (search(settings, () => DIFFERENCE * random.normal()).ending !== 'not_worse') wrong += 1;
    expect(wrong).toBeLessThanOrEqual(WRONG_MAX);
  });

  test('runs that are too few end as undecided or narrowed, with the number that it takes', () => {
    const random = new RandomGenerator('bisect few');
    const settings = createSettings(9, { maximumRuns: 150 });
    const endings = new Set<string | null>();
    for (let index = 0; index < 50; index += 1) {
      const result = search(
        settings,
        (version) => (version >= 5 ? DIFFERENCE : 0) + 2 * DIFFERENCE * random.normal(),
      );
      endings.add(result.ending);
      expect(result.runsNeeded).toBeGreaterThan(0);
    }
    expect(endings).toContain('undecided');
    for (const ending of endings) expect(['undecided', 'narrowed']).toContain(ending);
  });
});

const pair = (control: OutcomePair['control'], candidate: OutcomePair['candidate']) => ({
  control,
  candidate,
});
const ABSOLUTE: RoundScale = { measure: 'absolute', direction: 'minimize' };
const RELATIVE: RoundScale = { measure: 'relative', direction: 'minimize' };

test.for<{ title: string; pairs: OutcomePair[]; scale?: RoundScale; effect: number | null }>([
  { title: 'the mean difference', pairs: [pair(10, 13), pair(20, 21)], effect: 2 },
  {
    title: 'a smaller value of an indicator to maximise',
    pairs: [pair(10, 7)],
    scale: { measure: 'absolute', direction: 'maximize' },
    effect: 3,
  },
  { title: 'the mean log ratio', pairs: [pair(1, 2), pair(100, 50)], scale: RELATIVE, effect: 0 },
  { title: 'an input that the version lost', pairs: [pair(10, 1), pair(5, 'failed')], effect: Infinity },
  { title: 'an input that the good one lost', pairs: [pair(10, 90), pair('failed', 5)], effect: -Infinity },
  { title: 'as many lost as won', pairs: [pair('failed', 5), pair(5, 'failed'), pair(1, 2)], effect: 1 },
  { title: 'an input that both lost', pairs: [pair('failed', 'failed'), pair(1, 5)], effect: 4 },
  { title: 'nothing but failures of both', pairs: [pair('failed', 'failed')], effect: null },
  { title: 'a canceled run', pairs: [pair('canceled', 1), pair(3, 4)], effect: 1 },
  { title: 'nothing but canceled runs', pairs: [pair(1, 'canceled')], effect: null },
])('$title: $effect', ({ pairs, scale = ABSOLUTE, effect }) => {
  // Logarithms are rounded.
  const expected =
    typeof effect === 'number' && Number.isFinite(effect) ? expect.closeTo(effect, 12) : effect;
  expect(computeRoundEffect(pairs, scale)).toEqual({ state: 'ended', effect: expected });
});

test('a round with a pending run is pending', () => {
  expect(computeRoundEffect([pair(1, 2), pair(1, 'pending')], ABSOLUTE)).toEqual({ state: 'pending' });
});

test('a relative effect of a value of 0 is an error that names it', () => {
  expect(() => computeRoundEffect([pair(0, 2)], RELATIVE)).toThrow(NotPositiveError);
  expect(() => computeRoundEffect([pair(3, -2)], RELATIVE)).toThrow('-2');
});
