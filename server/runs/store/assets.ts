/** Statements on assets. They are stored with the end of the run, each with its own content, and removed with the run. */
import type { AssetId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { PreparedContent } from '../../platform/blobs/contents.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { AssetsTable } from './schema.ts';

/** An asset whose content is prepared. */
export interface PreparedAsset {
  row: Omit<AssetsTable, 'run_id' | 'position'>;
  content: PreparedContent;
}

/** Inserts the rows; their contents are inserted with the other contents of the run. */
export async function insertAssets(tx: Writer, run: RunId, assets: readonly PreparedAsset[]): Promise<void> {
  for (let from = 0; from < assets.length; from += ROWS_PER_STATEMENT) {
    const rows = assets
      .slice(from, from + ROWS_PER_STATEMENT)
      .map(({ row }, index): AssetsTable => ({ ...row, run_id: run, position: from + index }));
    await tx.insertInto('assets').values(rows).execute();
  }
}

const ROWS_PER_STATEMENT = 100;

/** The page that has all assets of a run. */
export const ALL_ASSETS = { after: null, limit: null };

/** Lists assets in the order of the app, after the position; one row more than the limit shows that more follow. */
export function listAssets(
  db: Reader,
  run: RunId,
  page: { after: number | null; limit: number | null },
): Promise<AssetsTable[]> {
  let query = db.selectFrom('assets').selectAll().where('run_id', '=', run).orderBy('position');
  if (page.after !== null) query = query.where('position', '>', page.after);
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Returns the asset of the run; undefined for a missing one. */
export function findAsset(db: Reader, run: RunId, id: AssetId): Promise<AssetsTable | undefined> {
  return db
    .selectFrom('assets')
    .selectAll()
    .where('run_id', '=', run)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Removes the assets of runs; returns the ids of their contents. */
export async function removeAssetsOfRuns(tx: Writer, runs: readonly RunId[]): Promise<string[]> {
  const rows = await tx.deleteFrom('assets').where('run_id', 'in', runs).returning('content_id').execute();
  return rows.map((row) => row.content_id);
}

/** Removes at most `limit` assets of runs, because a run can have a thousand; returns the ids of their contents. */
export async function removeAssetBatch(tx: Writer, runs: readonly RunId[], limit: number): Promise<string[]> {
  const rows = await tx
    .deleteFrom('assets')
    .where((eb) =>
      eb(
        eb.refTuple('run_id', 'position'),
        'in',
        eb
          .selectFrom('assets')
          .select(['run_id', 'position'])
          .where('run_id', 'in', runs)
          .limit(limit)
          .$asTuple('run_id', 'position'),
      ),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}
