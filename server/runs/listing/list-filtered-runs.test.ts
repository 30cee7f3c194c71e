/** Pages of a filter over many ended runs: in their order, and within the time of a page. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../testing/database/multiply-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import {
  encodeNumber,
  encodeText,
  lieBetween,
  startWith,
  type ValueInterval,
} from '../values/encode-value.ts';
import { hashField } from '../values/run-values.ts';
import { listFilteredRuns } from './list-filtered-runs.ts';
import { comparePositions, type RunCondition, type RunFilter, type RunPosition } from './run-filter.ts';

const APP = 'app';
const RUNS = 30_000;
/** Runs with the number 1 as their step, older than all others and too many to be rare. */
const EARLY_RUNS = 11_000;
/** The chunks of a walk end within one instant. */
const RUNS_PER_INSTANT = 3;
/** One run in 500 has a rare effort, one in 10 a rare word. */
const [EFFORT_DISTANCE, WORD_DISTANCE] = [500, 10];

/** A run of the test, by its number. */
interface KnownRun {
  number: number;
  at: number;
  id: string;
}
const runs = Array.from({ length: RUNS }, (_, index): KnownRun => {
  const number = index + 1;
  const id = `run-${String(number).padStart(9, '0')}`;
  return { number, at: Math.floor(number / RUNS_PER_INSTANT), id };
});

const choose = (condition: string, value: string, other: string): string =>
  `case when ${condition} then '${value}' else '${other}' end`;
const IS_EARLY = `n <= ${EARLY_RUNS}`;
const FIELDS = {
  status: choose(IS_EARLY, encodeText('failed'), encodeText('succeeded')),
  version_id: choose(IS_EARLY, encodeText('v1'), encodeText('v2')),
  instance_id: choose(`n = 1 or n > ${EARLY_RUNS}`, encodeText('last'), encodeText('first')),
  'indicator.step': choose(IS_EARLY, encodeNumber(1), encodeNumber(2)),
  'option.effort': choose(`n % ${EFFORT_DISTANCE} = 0`, encodeNumber(7), encodeNumber(9)),
  text: choose(`n % ${WORD_DISTANCE} = 0`, encodeText('tour'), encodeText('word')),
};

let opened: TestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
  const template = { field: 0, created_at: 0, run_id: 'template' as RunId, value: '' };
  await opened.database.transact((tx) => tx.insertInto('run_values').values(template).execute());
  for (const [field, value] of Object.entries(FIELDS)) await addValues(field, value);
  // The first and the last run have one word and all others two, so that a chunk ends within a run.
  await addValues('text', `'${encodeText('plan')}'`, { skipped: 1 });
});
afterAll(() => opened.close());

/** Gives the runs a value of the field, except those that are skipped at both ends. */
async function addValues(field: string, value: string, { skipped } = { skipped: 0 }): Promise<void> {
  const number = `(n + ${skipped})`;
  await multiplyRows(opened.database, {
    table: 'run_values',
    template: { column: 'run_id', value: 'template' },
    count: RUNS - 2 * skipped,
    changes: {
      field: String(hashField(APP, field)),
      created_at: `${number} / ${RUNS_PER_INSTANT}`,
      run_id: `'run-' || ${PADDED_ROW_NUMBER.replace(/\bn\b/, number)}`,
      value,
    },
  });
}

/** A clock by which the time of each page is over at once, and one by which it never is. */
const createLateClock = () => {
  let now = 0;
  return {
    elapsed() {
      now += 1000;
      return now;
    },
  };
};
const stoppedClock = { elapsed: () => 0 };

const be = (field: string, ...texts: string[]): RunCondition => ({
  field,
  intervals: texts.map(encodeText).map((value) => ({ from: value, to: value })),
});
const lie = (field: string, interval: ValueInterval): RunCondition => ({ field, intervals: [interval] });
const words = (prefix: string): RunCondition => lie('text', startWith(prefix));

const ALL: RunFilter = { conditions: [], sort: null, isDescending: true, start: 0, end: RUNS };
const PAGE_RUNS = 700;

async function listPage(filter: Partial<RunFilter>, clock = stoppedClock, after: RunPosition | null = null) {
  const { readInOrder } = opened.database;
  const parts = { readInOrder, clock };
  return listFilteredRuns(parts, APP, { ...ALL, ...filter }, { after, limit: PAGE_RUNS });
}

/** Reads all pages. Each advances, so that they end. */
async function listPages(filter: Partial<RunFilter>, clock = stoppedClock): Promise<string[][]> {
  const pages: string[][] = [];
  let after: RunPosition | null = null;
  do {
    const { ids, next } = await listPage(filter, clock, after);
    expect(next === null || after === null || JSON.stringify(next) !== JSON.stringify(after)).toBe(true);
    pages.push(ids);
    after = next;
  } while (after !== null && pages.length < 100);
  expect(after).toBeNull();
  return pages;
}

const isEarly = ({ number }: KnownRun): boolean => number <= EARLY_RUNS;
const hasEffort = ({ number }: KnownRun): boolean => number % EFFORT_DISTANCE === 0;
const hasWord = ({ number }: KnownRun): boolean => number % WORD_DISTANCE === 0;

const EARLY_STEP = lie('indicator.step', lieBetween(undefined, 1));
const RARE_EFFORT = lie('option.effort', lieBetween(6, 8));

const FILTERS: [string, RunCondition[], (run: KnownRun) => boolean][] = [
  ['one value', [be('status', 'failed')], isEarly],
  ['several values', [be('status', 'failed', 'canceled', 'succeeded')], () => true],
  ['an interval of old runs', [EARLY_STEP], isEarly],
  ['a rare interval', [RARE_EFFORT], hasEffort],
  ['rare words with one beginning', [words('tour')], hasWord],
  ['the first of two words', [words('pl')], ({ number }) => number > 1 && number < RUNS],
  ['the last of two words', [words('wo')], (run) => !hasWord(run)],
  [
    'a rare interval of old runs',
    [be('status', 'failed'), RARE_EFFORT],
    (run) => isEarly(run) && hasEffort(run),
  ],
  [
    'frequent conditions that one run satisfies',
    [be('status', 'failed'), be('instance_id', 'last')],
    ({ number }) => number === 1,
  ],
  ['several values and an interval', [be('version_id', 'v1', 'v2'), EARLY_STEP], isEarly],
  ['what no run has', [be('instance_id', 'none'), EARLY_STEP], () => false],
];

describe.each([true, false])('pages by time, descending %s', (isDescending) => {
  const expectRuns = (pages: string[][], isExpected: (run: KnownRun) => boolean, end = RUNS): void => {
    const expected = runs.filter((run) => run.at < end && isExpected(run));
    expected.sort((one, other) => comparePositions(one, other, isDescending));
    expect(pages.flat()).toEqual(expected.map(({ id }) => id));
  };

  test.each(FILTERS)('have the runs of %s', async (_, conditions, isExpected) => {
    const pages = await listPages({ conditions, isDescending });
    expectRuns(pages, isExpected);
    expect(pages.slice(0, -1).every((page) => page.length === PAGE_RUNS)).toBe(true);
    expectRuns(await listPages({ conditions, isDescending }, createLateClock()), isExpected);
    const end = 2500;
    expectRuns(await listPages({ conditions, isDescending, end }), isExpected, end);
  });
});

test('the page of frequent conditions that hardly a run satisfies ends with its time', async () => {
  const conditions = [be('status', 'failed'), be('instance_id', 'last')];
  const page = await listPage({ conditions }, createLateClock());
  expect(page).toEqual({ ids: [], next: { at: expect.any(Number), id: expect.any(String) } });
});

test.each([
  ['interval', [be('status', 'failed'), RARE_EFFORT, be('version_id', 'v1')]],
  ['tag that no run has', [be('status', 'failed'), be('tag', 'none')]],
])('a rare %s beside frequent conditions is whole on the first page', async (_, conditions) => {
  const { ids, next } = await listPage({ conditions }, createLateClock());
  const expected = runs.filter((run) => isEarly(run) && hasEffort(run)).reverse();
  expect(ids).toEqual(conditions.length === 3 ? expected.map(({ id }) => id) : []);
  expect(next).toBeNull();
});

test.each([
  [true, stoppedClock],
  [false, stoppedClock],
  [true, createLateClock()],
])('an order by a value has the runs of a window, descending %s', async (isDescending, clock) => {
  const [start, end] = [3000, 4000];
  const conditions = [be('status', 'succeeded', 'failed')];
  const pages = await listPages({ conditions, sort: 'indicator.step', isDescending, start, end }, clock);
  const expected = runs.filter(({ at }) => at >= start && at < end);
  expect(pages.flat()).toEqual((isDescending ? expected.reverse() : expected).map(({ id }) => id));
});
