/** Assets of runs: kept with the end of the run, each with content of its own, and gone with the run. */
import type { Asset } from '@switchyard/contract/assets.ts';
import type { AssetId, RunId } from '@switchyard/contract/ids.ts';
import type { Contents, PreparedContent } from '../blobs/contents.ts';
import { rfc3339 } from '../clock.ts';
import type { Reader, Writer } from '../database/database.ts';
import { makeId, type Random } from '../random.ts';
import type { ReadAsset } from './read-assets.ts';
import type { AssetsTable } from './schema.ts';

/** An asset whose content lies ready. */
export interface PreparedAsset {
  row: Omit<AssetsTable, 'run_id' | 'position'>;
  content: PreparedContent;
}

/** Prepares the assets; their contents are added to `prepared` as they come, for whoever discards all when one fails. */
export async function prepareAssets(
  parts: { contents: Contents; random: Random },
  assets: readonly ReadAsset[],
  now: number,
  prepared: PreparedContent[],
): Promise<PreparedAsset[]> {
  const made: PreparedAsset[] = [];
  for (const asset of assets) {
    const one = await prepareAsset(parts, asset, now);
    prepared.push(one.content);
    made.push(one);
  }
  return made;
}

async function prepareAsset(
  { contents, random }: { contents: Contents; random: Random },
  asset: ReadAsset,
  now: number,
): Promise<PreparedAsset> {
  const content = await contents.prepare(Buffer.from(asset.content));
  const row = {
    id: makeId<AssetId>(random, 'asset'),
    name: asset.name,
    description: asset.description,
    visual: asset.visual,
    bytes: content.bytes,
    content_id: content.id,
    created_at: now,
  };
  return { row, content };
}

/** Writes the rows; their contents are inserted with the others of the run. */
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

/** In the order the app gave, after the position; one row more than the limit says whether more follow. */
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

export function findAsset(db: Reader, run: RunId, id: AssetId): Promise<AssetsTable | undefined> {
  return db
    .selectFrom('assets')
    .selectAll()
    .where('run_id', '=', run)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Removes the assets of runs; answers their contents. */
export async function removeAssets(tx: Writer, runs: readonly RunId[]): Promise<string[]> {
  const rows = await tx.deleteFrom('assets').where('run_id', 'in', runs).returning('content_id').execute();
  return rows.map((row) => row.content_id);
}

/** The same, at most `limit` at once: a run can have a thousand. */
export async function removeSomeAssets(tx: Writer, runs: readonly RunId[], limit: number): Promise<string[]> {
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

export function assetBody(row: AssetsTable): Asset {
  return {
    id: row.id,
    run_id: row.run_id,
    name: row.name,
    description: row.description,
    content_type: 'json',
    size: row.bytes,
    created_at: rfc3339(row.created_at),
    ...(row.visual === null ? {} : { visual: JSON.parse(row.visual) as Record<string, unknown> }),
  };
}
