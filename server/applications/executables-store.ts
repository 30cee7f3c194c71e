/**
 * Every statement on executables. A row lives as long as anything names it: the application it is active in, a version, or
 * a run. Its archive goes earlier, once nothing can execute it any more (see clean-up/unused-executables.ts).
 */
import type { ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';

export async function insertExecutable(tx: Writer, executable: ExecutablesTable): Promise<void> {
  await tx.insertInto('executables').values(executable).execute();
}

const selectExecutable = prepareStatement((db, { id }: { id: ExecutableId }) =>
  db.selectFrom('executables').selectAll().where('id', '=', id),
);

/**
 * Executables found before, by id, as every read of a run's metadata asks for one. What is read of a row never changes, and
 * its id is never given again. It may be gone meanwhile, removed by this process or another: then nothing names it, and
 * whoever is about to name it asks holdExecutable in the transaction that does.
 */
const found = new Map<ExecutableId, ExecutablesTable>();
const FOUND_MAX = 1000;

export async function findExecutable(db: Reader, id: ExecutableId): Promise<ExecutablesTable | undefined> {
  const known = found.get(id);
  if (known) return known;
  const [row] = await selectExecutable(db, { id });
  if (!row) return undefined;
  if (found.size >= FOUND_MAX) found.clear();
  found.set(id, row);
  return row;
}

/** In any order. Asked for in parts, because a statement takes only so many parameters. */
export async function findExecutables(db: Reader, ids: readonly ExecutableId[]): Promise<ExecutablesTable[]> {
  const found: ExecutablesTable[] = [];
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const part = ids.slice(from, from + IDS_PER_STATEMENT);
    found.push(...(await db.selectFrom('executables').selectAll().where('id', 'in', part).execute()));
  }
  return found;
}

const IDS_PER_STATEMENT = 500;

const shareWhole = prepareStatement((db, { id }: { id: ExecutableId }) =>
  locked(
    db,
    db.selectFrom('executables').select('id').where('id', '=', id).where('archive_removed_at', 'is', null),
    'share',
  ),
);

/**
 * Whether the executable is there with its archive; nobody removes either until the transaction is over. Asked by whoever
 * makes something that names it.
 */
export async function lockExecutable(tx: Writer, id: ExecutableId): Promise<boolean> {
  return (await shareWhole(tx, { id })).length > 0;
}

/** Some executables, by id, after the one given. */
export function listExecutables(db: Reader, after: string, limit: number): Promise<ExecutablesTable[]> {
  return db
    .selectFrom('executables')
    .selectAll()
    .where('id', '>', after as ExecutableId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Which of the executables are active in their application. */
export async function findActiveExecutables(
  db: Reader,
  ids: readonly ExecutableId[],
): Promise<ExecutableId[]> {
  const rows = await db
    .selectFrom('executables')
    .innerJoin('applications', 'applications.uid', 'executables.application_uid')
    .select('executables.id')
    .where('executables.id', 'in', ids)
    .whereRef('applications.active_executable_id', '=', 'executables.id')
    .execute();
  return rows.map((row) => row.id);
}

/** Notes since when nothing uses the executables; null: something does. */
export async function markUnused(
  tx: Writer,
  ids: readonly ExecutableId[],
  since: number | null,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.updateTable('executables').set({ unused_since: since }).where('id', 'in', ids).execute();
}

/** The executable, for its removal: nobody begins to use it until the transaction is over. */
export function lockExecutableForRemoval(
  tx: Writer,
  id: ExecutableId,
): Promise<ExecutablesTable | undefined> {
  const query = tx.selectFrom('executables').selectAll().where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

export async function markArchiveRemoved(tx: Writer, id: ExecutableId, at: number): Promise<void> {
  await tx.updateTable('executables').set({ archive_removed_at: at }).where('id', '=', id).execute();
}

export async function removeExecutable(tx: Writer, id: ExecutableId): Promise<void> {
  await tx.deleteFrom('executables').where('id', '=', id).execute();
}

/** Removes executables of an application, at most `limit` at once; answers their contents. */
export async function removeApplicationExecutables(
  tx: Writer,
  applicationUid: ApplicationsTable['uid'],
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('executables')
    .where('id', 'in', (eb) =>
      eb.selectFrom('executables').select('id').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}
