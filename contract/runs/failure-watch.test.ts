/** The watch after a release: its test against enumeration, and its decisions as a table of cases. */
import { describe, expect, test } from 'vitest';
import { computeOutageRuns, computeUpperTail, findBurstsNeeded, findWatchAlarm } from './failure-watch.ts';

/** Reads outcomes from text: `F` for a failed run, and `.` for any other. */
const read = (text: string): boolean[] => [...text].map((one) => one === 'F');
const succeed = (count: number): string => '.'.repeat(count);

/** Counts the ways to place the failures on all runs, and those with at least as many after. */
function enumerateUpperTail(
  [beforeRuns, beforeFailed]: readonly [number, number],
  [afterRuns, afterFailed]: readonly [number, number],
): number {
  const runs = beforeRuns + afterRuns;
  let all = 0;
  let extreme = 0;
  for (let mask = 0; mask < 2 ** runs; mask += 1) {
    const placed = [...mask.toString(2).padStart(runs, '0')].map(Number);
    const count = placed.reduce((sum, one) => sum + one, 0);
    if (count !== beforeFailed + afterFailed) continue;
    all += 1;
    if (placed.slice(beforeRuns).reduce((sum, one) => sum + one, 0) >= afterFailed) extreme += 1;
  }
  return extreme / all;
}

describe('T5: the p-value', () => {
  test.each([
    [
      [5, 1],
      [4, 3],
    ],
    [
      [8, 0],
      [3, 2],
    ],
    [
      [3, 2],
      [9, 4],
    ],
    [
      [6, 6],
      [5, 0],
    ],
    [
      [0, 0],
      [4, 2],
    ],
  ] as const)('of %j runs and failures before and %j after is that of enumeration', (before, after) => {
    const [[beforeRuns, beforeFailed], [afterRuns, afterFailed]] = [before, after];
    expect(
      computeUpperTail({ runs: beforeRuns, failed: beforeFailed }, { runs: afterRuns, failed: afterFailed }),
    ).toBeCloseTo(enumerateUpperTail(before, after), 12);
  });

  test.each([
    // The sum of binomial coefficients in exact integers, which is scipy.stats.fisher_exact with alternative='greater'.
    { before: { runs: 200, failed: 2 }, after: { runs: 20, failed: 4 }, p: 0.0006772056934591284 },
    { before: { runs: 500, failed: 25 }, after: { runs: 100, failed: 12 }, p: 0.011412545338497754 },
    { before: { runs: 1, failed: 0 }, after: { runs: 1, failed: 1 }, p: 0.5 },
  ])('of $before and $after is that of exact integers', ({ before, after, p }) => {
    expect(computeUpperTail(before, after)).toBeCloseTo(p, 10);
  });
});

describe('T5: a release', () => {
  test.each([
    {
      title: '3 failures at once after 200 runs without one',
      before: succeed(200),
      after: 'FFF',
      kind: 'rate',
    },
    { title: '2 failures at once after 200 runs without one', before: succeed(200), after: 'FF' },
    { title: '3 failures at once after 100 runs without one', before: succeed(100), after: 'FFF' },
    {
      title: '12 failures in a row after few runs',
      before: succeed(5),
      after: 'F'.repeat(12),
      kind: 'outage',
    },
    {
      title: '12 failures in a row of 20 after none',
      before: '',
      after: `...${'F'.repeat(12)}`,
      kind: 'outage',
    },
    { title: '11 failures in a row', before: succeed(20), after: 'F'.repeat(11) },
    {
      title: '12 failures in a row where 5 in a row are usual',
      before: `${succeed(10)}FFFFF${succeed(10)}`,
      after: `.${'F'.repeat(12)}`,
    },
    { title: 'an outage that began before it', before: `${succeed(190)}FFFF`, after: 'FFFFFF' },
    { title: 'one long burst', before: succeed(40), after: '......FFFFF.FF......' },
    { title: 'the same 30 %', before: 'F...F..F....F..F.F..'.repeat(5), after: 'F...F..F....F..F.F..' },
    { title: 'no failure any more', before: 'F...F..F....F..F.F..'.repeat(5), after: succeed(20) },
    { title: 'every version that fails always', before: 'F'.repeat(200), after: 'F'.repeat(20) },
    { title: 'failures each third run', before: succeed(200), after: 'F...F..F', kind: 'rate' },
    {
      title: 'bursts that no longer end',
      before: `${'F'}${succeed(9)}`.repeat(20),
      after: '.........FFFFFFFF',
      kind: 'rate',
    },
  ])('is moved back: $kind, after $title', ({ before, after, kind }) => {
    const watched = { before: read(before), after: read(after), planned: 20 };
    expect(findWatchAlarm(watched, computeOutageRuns(watched))?.kind).toBe(kind);
  });

  test('is moved back after as many failures in a row as the caller sets', () => {
    const watched = { before: [], after: read('.FFF'), planned: 20 };
    expect(findWatchAlarm(watched, 3)).toEqual({ kind: 'outage', streak: 3 });
    expect(findWatchAlarm(watched, 4)).toBeUndefined();
  });

  test('has a decision that does not depend on when it is read', () => {
    const before = read(`${succeed(70)}F`.repeat(3));
    const after = read('..F...F..F....F..FF.');
    const find = (count: number) => findWatchAlarm({ before, after: after.slice(0, count), planned: 20 }, 12);
    const alarms = after.map((_, index) => find(index + 1));
    const first = alarms.findIndex((alarm) => alarm !== undefined);
    expect(first).toBeGreaterThan(0);
    for (const alarm of alarms.slice(first)) expect(alarm).toEqual(alarms[first]);
  });
});

test.each([
  // 6 looks and 80 % of the test: 7.5 / (runs + 1) is below 5 % from 150 runs on.
  { before: succeed(150), planned: 20, needed: 1 },
  { before: succeed(148), planned: 20, needed: 2 },
  // 2 looks: 2.5 / C(n, 2), with one of 22 runs 2.5 / 231, and 2.5 / 21 for one burst.
  { before: succeed(20), planned: 2, needed: 2 },
  { before: succeed(3), planned: 3, needed: undefined },
  { before: '', planned: 100, needed: undefined },
])('T5: $before.length runs before: $needed bursts move it back', ({ before, planned, needed }) => {
  const watched = { before: read(before), planned };
  expect(findBurstsNeeded(watched)).toBe(needed);
});
