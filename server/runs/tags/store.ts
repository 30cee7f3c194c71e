/** Statements on tags of runs. */
import { LISTED_TAGS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { type Expression, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { hashField, replaceTagValues, TAG_FIELD } from '../values/run-values.ts';

/** Lists the tags of a run, sorted. */
export async function listTags(db: Reader, run: RunId): Promise<string[]> {
  const rows = await db.selectFrom('run_tags').select('tag').where('run_id', '=', run).execute();
  return rows.map(({ tag }) => tag).sort();
}

/**
 * Lists the tags of all runs of the application, sorted, at most LISTED_TAGS_MAX. It seeks from one tag to the next in the index
 * of the values, so a tag of a million runs costs one seek.
 */
export async function listTagsOfApplication(db: Reader, applicationUid: string): Promise<string[]> {
  const field = hashField(applicationUid, TAG_FIELD);
  const findNext = (after: Expression<string>) =>
    sql<string>`(select min(value) from run_values where field = ${field} and value > ${after})`;
  const { rows } = await sql<{ value: string }>`with recursive tags (value) as (
      select ${findNext(sql`''`)} union all select ${findNext(sql.ref('tags.value'))} from tags where value is not null
    ) select value from tags where value is not null limit ${LISTED_TAGS_MAX}`.execute(db);
  // The first character marks a text, and no tag is long enough to be cut.
  return rows.map(({ value }) => value.slice(1));
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
