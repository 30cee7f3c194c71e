/** Statements on tags of runs. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { replaceTagValues } from '../values/run-values.ts';

/** Lists the tags of a run, sorted. */
export async function listTags(db: Reader, run: RunId): Promise<string[]> {
  const rows = await db.selectFrom('run_tags').select('tag').where('run_id', '=', run).execute();
  return rows.map(({ tag }) => tag).sort();
}

/** Replaces the tags of a run, and the values by which lists find them. */
export async function replaceTags(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'created_at'>,
  tags: readonly string[],
): Promise<void> {
  await tx.deleteFrom('run_tags').where('run_id', '=', run.id).execute();
  await replaceTagValues(tx, run, tags);
  if (tags.length === 0) return;
  await tx
    .insertInto('run_tags')
    .values(tags.map((tag) => ({ run_id: run.id, tag })))
    .execute();
}

/**
 * Locks the runs until the transaction ends, and returns the ids of those that exist. The clean-up of expired runs and
 * the change of tags both lock the run first, so a run that has just got a tag is not deleted.
 */
export async function lockRuns(tx: Writer, ids: readonly RunId[]): Promise<RunId[]> {
  if (ids.length === 0) return [];
  const query = tx.selectFrom('runs').select('id').where('id', 'in', ids).orderBy('id');
  return (await locked(tx, query, 'update').execute()).map(({ id }) => id);
}
