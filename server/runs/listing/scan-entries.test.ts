/** A scan reads a bounded number of entries, and continues where it ended. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../testing/database/multiply-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { ANY_VALUE, encodeNumber, encodeText, lieBetween, startWith } from '../values/encode-value.ts';
import { scanEntries } from './scan-entries.ts';
import type { EntryConditions, EntryOrder } from './value-entries.ts';

const ENTRIES = 60_000;
const WORDS = 2_000;
/** The field whose entries a test reads, one that only the oldest run has, and one of words. */
const [FIELD, RARE_FIELD, WORD_FIELD] = [1, 2, 3];
const OLDEST = { created_at: 1, run_id: 'run-000000001' as RunId };
const NOTHING_ELSE: EntryConditions = { present: [], absent: null };

let opened: TestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  const [early, late] = [encodeNumber(1), encodeNumber(2)];
  await database.transact((tx) =>
    tx
      .insertInto('run_values')
      .values([
        { field: FIELD, created_at: 0, run_id: 'template' as RunId, value: early },
        { field: RARE_FIELD, ...OLDEST, value: early },
        { field: WORD_FIELD, created_at: 0, run_id: 'word' as RunId, value: encodeText('word') },
      ])
      .execute(),
  );
  await multiplyRows(database, {
    table: 'run_values',
    template: { column: 'run_id', value: 'template' },
    count: ENTRIES,
    changes: {
      created_at: 'n',
      run_id: `'run-' || ${PADDED_ROW_NUMBER}`,
      value: `case when n <= 10000 then '${early}' else '${late}' end`,
    },
  });
});
beforeAll(() =>
  multiplyRows(opened.database, {
    table: 'run_values',
    template: { column: 'run_id', value: 'word' },
    count: WORDS,
    changes: {
      created_at: 'n',
      run_id: `'run-' || ${PADDED_ROW_NUMBER}`,
      value: `case when n % 240 = 0 then '${encodeText('tour')}' || (n % 720) else t.value end`,
    },
  }),
);
afterAll(() => opened.close());

const ORDER: EntryOrder = {
  field: FIELD,
  by: 'time',
  isDescending: true,
  ...ANY_VALUE,
  start: 1,
  end: ENTRIES + 1,
};
const scan = (
  order: EntryOrder,
  conditions = NOTHING_ELSE,
  after: { at: number; id: string } | null = null,
) => scanEntries(opened.database, order, conditions, { after, count: 3 });

test('a condition that almost no run satisfies ends the scan after 50,000 entries', async () => {
  const conditions = { ...NOTHING_ELSE, present: [{ field: RARE_FIELD, intervals: [ANY_VALUE] }] };
  const first = await scan(ORDER, conditions);
  expect([first.found, first.through?.at]).toEqual([[], ENTRIES - 50_000 + 1]);
  const second = await scan(ORDER, conditions, first.through);
  expect([second.found.map(({ id }) => id), second.through]).toEqual([[OLDEST.run_id], null]);
});

test('an interval that only old runs have is found behind many newer runs', async () => {
  const old = await scan({ ...ORDER, ...lieBetween(undefined, 1) });
  expect([old.found, old.through?.at]).toEqual([[], ENTRIES - 50_000 + 1]);
  const rest = await scan({ ...ORDER, ...lieBetween(undefined, 1) }, NOTHING_ELSE, old.through);
  expect(rest.found.map(({ at }) => at)).toEqual([10_000, 9999, 9998]);
  const few = await scan({ ...ORDER, ...lieBetween(undefined, 1), field: RARE_FIELD });
  expect(few.found.map(({ id }) => id)).toEqual([OLDEST.run_id]);
});

test.each([
  [true, [1920, 1680, 1440]],
  [false, [240, 480, 720]],
])('a few rare words with one beginning are read together, descending %s', async (isDescending, times) => {
  const order = { ...ORDER, field: WORD_FIELD, ...startWith('tour'), isDescending };
  const first = await scan(order);
  expect([first.found.map(({ at }) => at), first.through?.at]).toEqual([times, times.at(-1)]);
  const last = isDescending ? 480 : 1680;
  const rest = await scan(order, NOTHING_ELSE, { at: last, id: '' });
  expect([rest.found.map(({ at }) => at), rest.through]).toEqual([isDescending ? [240] : [1680, 1920], null]);
});

test('a frequent word among rare ones with one beginning is read whole', async () => {
  const order = { ...ORDER, field: WORD_FIELD, from: encodeText('tour'), to: encodeText('word') };
  const request = { after: null, count: 40 };
  const { found } = await scanEntries(opened.database, order, NOTHING_ELSE, request);
  expect(found.map(({ at }) => at)).toEqual(Array.from({ length: 40 }, (_, index) => WORDS - index));
});

test.each([
  [true, [10_000, 9999, 9998]],
  [false, [1, 2, 3]],
])('one value is read in the order of time, descending %s', async (isDescending, times) => {
  const value = encodeNumber(1);
  const order = { ...ORDER, by: 'value', from: value, to: value, isDescending } as const;
  const { found } = await scan(order);
  expect(found.map(({ at }) => at)).toEqual(times);
});
