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
  [true, { ...lieBetween(0.5, 1), end: 10_001 }, ENTRIES - 5000 + 1],
  [false, { ...lieBetween(1.5, 2), start: 10_001 }, 5000],
])(
  'a scan is bounded after one of the same interval that began inside its window, descending %s',
  async (isDescending, narrow, through) => {
    const order = { ...ORDER, ...narrow, isDescending };
    const request = { after: null, count: 30, share: 0.1 };
    const past = await scanEntries(opened.database, order, NOTHING_ELSE, request);
    expect(past.found).toHaveLength(request.count);
    const { start } = ORDER;
    // A window that ends now ends a little later in the next request, so some time does not count.
    const end = ORDER.end + 600_000;
    const wide = await scanEntries(opened.database, { ...order, start, end }, NOTHING_ELSE, request);
    expect([wide.found, wide.through?.at]).toEqual([[], through]);
  },
);

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

/** The field whose entries change between scans. */
const CHANGED_FIELD = 4;
const CHANGED_ENTRIES = 8_000;
const INTERVAL = lieBetween(undefined, 1);

/** Replaces the entries of the field: one in `distance` is in the interval. */
async function fillChanged(distance: number): Promise<void> {
  await opened.database.transact(async (tx) => {
    await tx.deleteFrom('run_values').where('field', '=', CHANGED_FIELD).execute();
    for (let from = 1; from <= CHANGED_ENTRIES; from += 1000)
      await tx
        .insertInto('run_values')
        .values(
          Array.from({ length: 1000 }, (_, index) =>
            formatChanged(from + index, (from + index) % distance === 0),
          ),
        )
        .execute();
  });
}

const formatChanged = (at: number, isInside: boolean) => ({
  ...{ field: CHANGED_FIELD, created_at: at, run_id: `run-${at}` as RunId },
  value: encodeNumber(isInside ? 1 : 2),
});

async function listChanged({ start, end, isDescending }: EntryOrder): Promise<number[]> {
  const rows = await opened.database.read
    .selectFrom('run_values')
    .select('created_at')
    .where('field', '=', CHANGED_FIELD)
    .where('value', '=', encodeNumber(1))
    .where('created_at', '>=', start)
    .where('created_at', '<', end)
    .orderBy('created_at', isDescending ? 'desc' : 'asc')
    .execute();
  return rows.map(({ created_at }) => Number(created_at));
}

test.each([
  ['frequent', 5, true],
  ['frequent', 5, false],
  ['of one in 90', 90, true],
  ['of one in 90', 90, false],
  ['rare', 900, true],
  ['rare', 900, false],
])(
  'an interval that is %s is found again after its entries changed, distance %s, descending %s',
  async (_, distance, isDescending) => {
    await fillChanged(distance);
    const order = { ...ORDER, ...INTERVAL, field: CHANGED_FIELD, isDescending };
    const expectPage = async (window: Partial<EntryOrder> = {}): Promise<void> => {
      const { found } = await scan({ ...order, ...window });
      expect(found.map(({ at }) => at)).toEqual((await listChanged({ ...order, ...window })).slice(0, 3));
    };
    await expectPage();
    await expectPage();
    const [first = 0, second = 0] = await listChanged(order);
    // The window ends before the page of the past scan.
    await expectPage(isDescending ? { end: second } : { start: second + 1 });
    await opened.database.transact((tx) =>
      tx
        .deleteFrom('run_values')
        .where('field', '=', CHANGED_FIELD)
        .where('created_at', '=', first)
        .execute(),
    );
    await expectPage();
    await opened.database.transact((tx) =>
      tx
        .insertInto('run_values')
        .values(formatChanged(isDescending ? ENTRIES : first, true))
        .execute(),
    );
    await expectPage();
    await opened.database.transact((tx) =>
      tx
        .updateTable('run_values')
        .set({ value: encodeNumber(2) })
        .where('field', '=', CHANGED_FIELD)
        .execute(),
    );
    await expectPage();
  },
);
