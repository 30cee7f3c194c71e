/** Statements on replays. A row is inserted with its run, and removed with its run or with the original (store/runs.ts). */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { RunReplaysTable, RunsTable } from '../store/schema.ts';

/** Inserts the replay, in the transaction that inserts its run. */
export async function insertReplay(tx: Writer, replay: Omit<RunReplaysTable, 'comparison'>): Promise<void> {
  await tx
    .insertInto('run_replays')
    .values({ ...replay, comparison: null })
    .execute();
}

/** A replay with the columns of its run that a list shows. */
export type ListedReplay = RunReplaysTable & Pick<RunsTable, 'status' | 'user_email'>;

/** Lists the replays of a run, newest first; one row more than the limit shows that more follow. */
export function listReplays(db: Reader, original: RunId, page: PageRequest): Promise<ListedReplay[]> {
  let query = db
    .selectFrom('run_replays')
    .innerJoin('runs', 'runs.id', 'run_replays.run_id')
    .selectAll('run_replays')
    .select(['runs.status', 'runs.user_email'])
    .where('run_replays.original_run_id', '=', original)
    .orderBy('run_replays.created_at', 'desc')
    .orderBy('run_replays.run_id', 'desc');
  if (page.after)
    query = query.where(
      sql<boolean>`(run_replays.created_at, run_replays.run_id) < (${page.after.at}, ${page.after.id})`,
    );
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Lists replays that have ended and are not compared, oldest first, after the given one. */
export function listUncomparedReplays(
  db: Reader,
  after: RunReplaysTable | null,
  limit: number,
): Promise<RunReplaysTable[]> {
  let query = db
    .selectFrom('run_replays')
    .innerJoin('runs', 'runs.id', 'run_replays.run_id')
    .selectAll('run_replays')
    .where(sql<boolean>`run_replays.comparison is null`)
    .where('runs.finished_at', 'is not', null)
    .orderBy('run_replays.created_at')
    .orderBy('run_replays.run_id')
    .limit(limit);
  if (after)
    query = query.where(
      sql<boolean>`(run_replays.created_at, run_replays.run_id) > (${after.created_at}, ${after.run_id})`,
    );
  return query.execute();
}

/** Stores the comparison, in JSON; does nothing when the replay is gone. */
export async function storeComparison(tx: Writer, run: RunId, comparison: string): Promise<void> {
  await tx.updateTable('run_replays').set({ comparison }).where('run_id', '=', run).execute();
}
