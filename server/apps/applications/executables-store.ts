/**
 * Statements on executables. A row exists as long as something refers to it: the application where it is active, a version or
 * a run. Its archive is removed earlier, when nothing can execute it (see clean-up/unused-executables.ts).
 */
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { memoizeByObject } from '../../platform/memoize.ts';
import { listHiddenOptions } from './executable.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';

export async function insertExecutable(tx: Writer, executable: ExecutablesTable): Promise<void> {
  await tx.insertInto('executables').values(executable).execute();
}

const selectExecutable = prepareStatement((db, { id }: { id: ExecutableId }) =>
  db.selectFrom('executables').selectAll().where('id', '=', id),
);

/** The cache of a database is cleared when it has this many rows. */
const CACHED_EXECUTABLES_MAX = 1000;

/** By adapter: a database and its transactions have the same one. */
const getCache = memoizeByObject((_adapter: object) => new Map<ExecutableId, ExecutablesTable>());

/**
 * Returns the executable, from a cache where possible, because every read of a run's metadata needs one. The columns that
 * readers use never change, and ids are not reused. A cached row may be removed meanwhile, by any process; then nothing
 * refers to it. A transaction that is about to refer to it calls lockExecutable first.
 */
export async function findExecutable(db: Reader, id: ExecutableId): Promise<ExecutablesTable | undefined> {
  const cache = getCache(db.getExecutor().adapter);
  const cached = cache.get(id);
  if (cached) return cached;
  const [row] = await selectExecutable(db, { id });
  if (!row) return undefined;
  if (cache.size >= CACHED_EXECUTABLES_MAX) cache.clear();
  cache.set(id, row);
  return row;
}

/** Returns the executables in any order. */
export async function findExecutables(db: Reader, ids: readonly ExecutableId[]): Promise<ExecutablesTable[]> {
  const found: ExecutablesTable[] = [];
  for (const batch of splitIntoBatches(ids))
    found.push(...(await db.selectFrom('executables').selectAll().where('id', 'in', batch).execute()));
  return found;
}

/** Returns the names of the options that each executable hides from the role. */
export async function findHiddenOptions(
  db: Reader,
  ids: readonly ExecutableId[],
  role: Role,
): Promise<(id: ExecutableId) => ReadonlySet<string>> {
  const executables = await findExecutables(db, [...new Set(ids)]);
  const hidden = new Map(executables.map((one) => [one.id, listHiddenOptions(one, role)]));
  return (id) => hidden.get(id) ?? NO_OPTIONS;
}

const NO_OPTIONS: ReadonlySet<string> = new Set();

/**
 * Returns the names of the options that any executable of the application hides from the role. A list of its runs can have runs
 * of all of them, so these options are none of its columns.
 */
export async function listHiddenColumns(
  db: Reader,
  applicationUid: string,
  role: Role,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('executables')
    .select((eb) => ['requirements', eb.fn.min('id').as('id')])
    .where('application_uid', '=', applicationUid)
    .where('requirements', 'like', '%"hidden_from"%')
    .groupBy('requirements')
    .execute();
  return new Set(rows.flatMap((row) => [...listHiddenOptions(row, role)]));
}

const lockWithArchive = prepareStatement((db, { id }: { id: ExecutableId }) =>
  locked(
    db,
    db.selectFrom('executables').select('id').where('id', '=', id).where('archive_removed_at', 'is', null),
    'share',
  ),
);

/**
 * Locks the executable and its archive against removal until the transaction ends; returns false when either is gone. A
 * transaction that stores a reference to the executable calls this first.
 */
export async function lockExecutable(tx: Writer, id: ExecutableId): Promise<boolean> {
  return (await lockWithArchive(tx, { id })).length > 0;
}

/** Lists executables by id, after the given id. */
export function listExecutables(db: Reader, after: string, limit: number): Promise<ExecutablesTable[]> {
  return db
    .selectFrom('executables')
    .selectAll()
    .where('id', '>', after as ExecutableId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns the executables that are active in their application. */
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

/** Stores since when nothing uses the executables, in milliseconds since the epoch; null while something uses them. */
export async function markUnused(
  tx: Writer,
  ids: readonly ExecutableId[],
  since: number | null,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.updateTable('executables').set({ unused_since: since }).where('id', 'in', ids).execute();
}

/** Locks the executable for its removal: no transaction can refer to it until this one ends. */
export function lockExecutableForRemoval(
  tx: Writer,
  id: ExecutableId,
): Promise<ExecutablesTable | undefined> {
  const query = tx.selectFrom('executables').selectAll().where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Stores the time when the archive was removed, in milliseconds since the epoch. */
export async function markArchiveRemoved(tx: Writer, id: ExecutableId, at: number): Promise<void> {
  await tx.updateTable('executables').set({ archive_removed_at: at }).where('id', '=', id).execute();
}

export async function removeExecutable(tx: Writer, id: ExecutableId): Promise<void> {
  await tx.deleteFrom('executables').where('id', '=', id).execute();
}

/** Removes at most `limit` executables of an application; returns the ids of their contents. */
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
