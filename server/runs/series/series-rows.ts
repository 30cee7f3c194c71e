/**
 * Statements on the series of runs. A run has few rows: the first, which has the points up to some time, and one for each
 * later write. The writer replaces the rows by a new first one from time to time, so that their number has a bound.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { SERIES_ROWS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import {
  parsePart,
  SeriesCollection,
  type SeriesPart,
  type SeriesWrite,
  type StoredPart,
} from '@switchyard/worker/series/series-part.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';

export interface SeriesRow {
  run_id: RunId;
  /** Grows within a run, also from one attempt to the next. */
  seq: number;
  /** 1: the points of this row and the later ones are all points of the run. */
  is_first: 0 | 1;
  /** A StoredPart in JSON. */
  points: string;
}

/**
 * Stores a write in the transaction. A write whose commit was not confirmed comes again, with the same points. Returns the sentence
 * about an addition that is not stored because a worker would have merged the rows before it; null for none.
 */
export async function storeSeriesWrite(tx: Writer, run: RunId, write: SeriesWrite): Promise<string | null> {
  const { replacement, addition } = write;
  if (replacement) {
    const { seq } = replacement;
    await tx.deleteFrom('run_series').where('run_id', '=', run).where('seq', '<=', seq).execute();
    await insertPart(tx, run, { ...replacement, is_first: 1 });
  }
  if (!addition) return null;
  const { others } = await tx
    .selectFrom('run_series')
    .select(({ fn }) => fn.countAll<number | string>().as('others'))
    .where('run_id', '=', run)
    .where('seq', '!=', addition.seq)
    .executeTakeFirstOrThrow();
  // The last write of an attempt can come together with one that failed before.
  if (Number(others) > SERIES_ROWS_MAX + 1)
    return `series.addition is write ${Number(others) + 1} of the run; after ${SERIES_ROWS_MAX} writes a worker sends all points as series.replacement.`;
  await insertPart(tx, run, { ...addition, is_first: 0 });
  return null;
}

async function insertPart(
  tx: Writer,
  run: RunId,
  { seq, part, is_first }: { seq: number; part: StoredPart; is_first: 0 | 1 },
): Promise<void> {
  await tx
    .insertInto('run_series')
    .values({ run_id: run, seq, is_first, points: JSON.stringify(part) })
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'seq']).doUpdateSet((eb) => ({ points: eb.ref('excluded.points') })),
    )
    .execute();
}

/** Of at most a few hundred kB each, but for the first row of a run. */
const ROWS_PER_PAGE = 8;

const selectParts = prepareStatement((db, { run, after }: { run: RunId; after: number }) =>
  db
    .selectFrom('run_series')
    .select(['seq', 'is_first', 'points'])
    .where('run_id', '=', run)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(ROWS_PER_PAGE),
);

/** New points of a run. */
export interface SeriesUpdate extends SeriesPart {
  /** True: these are all points of the run, and replace those before. */
  reset: boolean;
  /** The number of the last row, for the next call. */
  seq: number;
}

/**
 * Returns the points after the row with the number, merged; null when there is none. Holds a few rows in memory, and lets other
 * requests go on between two pages.
 */
export async function findSeriesAfter(db: Reader, run: RunId, after: number): Promise<SeriesUpdate | null> {
  let collection = new SeriesCollection();
  let seq: number | null = null;
  let reset = false;
  for (;;) {
    const rows = await selectParts(db, { run, after: seq ?? after });
    for (const row of rows) {
      // A first row that replaced rows of an earlier page has their points.
      if (row.is_first === 1) collection = new SeriesCollection();
      collection.addPart(parsePart(row.points, `run_series.points of run_id ${run}, seq ${row.seq}`));
      reset ||= row.is_first === 1;
      seq = row.seq;
    }
    if (rows.length < ROWS_PER_PAGE) break;
    await yieldToOthers();
  }
  return seq === null ? null : { ...collection.toPart(), reset, seq };
}
