/**
 * Statements on the series of runs. A run has few rows: the first, which has the points up to some time, and one for each
 * later write. The writer replaces the rows by a new first one from time to time, so that their number has a bound.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import {
  parsePart,
  SeriesCollection,
  type SeriesPart,
  type SeriesWrite,
} from '@switchyard/worker/series/series-part.ts';
import type { Reader, Writer } from '../../database/database.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';

interface SeriesRow {
  run_id: RunId;
  /** Grows within a run, also from one attempt to the next. */
  seq: number;
  /** 1: the points of this row and the later ones are all points of the run. */
  is_first: 0 | 1;
  /** A SeriesPart in JSON. */
  points: string;
}

declare module '../../database/database.ts' {
  interface Tables {
    run_series: SeriesRow;
  }
}

/** Stores a write in the transaction. A write whose commit was not confirmed comes again, with the same points. */
export async function storeSeriesWrite(tx: Writer, run: RunId, write: SeriesWrite): Promise<void> {
  const { replacement, addition } = write;
  if (replacement) {
    const { seq } = replacement;
    await tx.deleteFrom('run_series').where('run_id', '=', run).where('seq', '<=', seq).execute();
    await insertPart(tx, run, { ...replacement, is_first: 1 });
  }
  if (addition) await insertPart(tx, run, { ...addition, is_first: 0 });
}

async function insertPart(
  tx: Writer,
  run: RunId,
  { seq, part, is_first }: { seq: number; part: SeriesPart; is_first: 0 | 1 },
): Promise<void> {
  await tx
    .insertInto('run_series')
    .values({ run_id: run, seq, is_first, points: JSON.stringify(part) })
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'seq']).doUpdateSet((eb) => ({ points: eb.ref('excluded.points') })),
    )
    .execute();
}

const selectParts = prepareStatement((db, { run, after }: { run: RunId; after: number }) =>
  db
    .selectFrom('run_series')
    .select(['seq', 'is_first', 'points'])
    .where('run_id', '=', run)
    .where('seq', '>', after)
    .orderBy('seq'),
);

/** New points of a run. */
export interface SeriesUpdate extends SeriesPart {
  /** True: these are all points of the run, and replace those before. */
  reset: boolean;
  /** The number of the last row, for the next call. */
  seq: number;
}

/** Returns the points after the row with the number, merged; null when there is none. */
export async function findSeriesAfter(db: Reader, run: RunId, after: number): Promise<SeriesUpdate | null> {
  const rows = await selectParts(db, { run, after });
  const last = rows.at(-1);
  if (!last) return null;
  const collection = new SeriesCollection();
  for (const { points } of rows) collection.addPart(parsePart(points));
  return { ...collection.toPart(), reset: rows.some((row) => row.is_first === 1), seq: last.seq };
}
