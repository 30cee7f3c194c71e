/** Statements on versions. */
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { VersionsTable } from './schema.ts';

/** Inserts the version; returns false when the application has one with that id. */
export async function insertVersion(tx: Writer, version: VersionsTable): Promise<boolean> {
  const result = await tx
    .insertInto('versions')
    .values(version)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findVersion(
  db: Reader,
  applicationUid: string,
  id: VersionId,
): Promise<VersionsTable | undefined> {
  return db
    .selectFrom('versions')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function findExecutableIds(
  db: Reader,
  applicationUid: string,
  ids: readonly VersionId[],
): Promise<Map<VersionId, ExecutableId>> {
  const found = new Map<VersionId, ExecutableId>();
  for (const batch of splitIntoBatches(ids)) {
    const rows = await db
      .selectFrom('versions')
      .select(['id', 'executable_id'])
      .where('application_uid', '=', applicationUid)
      .where('id', 'in', batch)
      .execute();
    for (const row of rows) found.set(row.id, row.executable_id);
  }
  return found;
}

/**
 * Locks the version until the transaction ends: against deletion, or with `change` also against new uses. Returns false when
 * it does not exist.
 */
export async function lockVersion(
  tx: Writer,
  target: { applicationUid: string; id: VersionId; change: boolean },
): Promise<boolean> {
  const query = tx
    .selectFrom('versions')
    .select('id')
    .where('application_uid', '=', target.applicationUid)
    .where('id', '=', target.id);
  const mode = target.change ? 'update' : 'share';
  return (await locked(tx, query, mode).executeTakeFirst()) !== undefined;
}

interface VersionWithExecutable {
  uid: string;
  version: VersionId;
  executable: ExecutableId;
}

const selectWithArchive = (db: Reader, { uid, version, executable }: VersionWithExecutable) =>
  db
    .selectFrom('versions')
    .innerJoin('executables', 'executables.id', 'versions.executable_id')
    .select('executables.id')
    .where('versions.application_uid', '=', uid)
    .where('versions.id', '=', version)
    .where('executables.id', '=', executable)
    .where('executables.archive_removed_at', 'is', null);
const lockShared = prepareStatement((db, values: VersionWithExecutable) =>
  locked(db, selectWithArchive(db, values), 'share', 'executables'),
);

/**
 * Locks the archive of the executable against removal until the transaction ends; returns false when the version does not
 * exist, has another executable, or its archive is gone. The transaction locks the application first, which protects the
 * version against deletion.
 */
export async function lockVersionWithExecutable(tx: Writer, values: VersionWithExecutable): Promise<boolean> {
  return (await lockShared(tx, values)).length > 0;
}

/** Lists versions, newest first; one row more than the limit shows that more follow. */
export function listVersions(
  db: Reader,
  applicationUid: string,
  page: PageRequest,
): Promise<VersionsTable[]> {
  let query = db
    .selectFrom('versions')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('versions', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/**
 * Lists the ids of versions from the first to the last one, both included, in the order of their creation, at most `limit`.
 * The order is that of lists, reversed.
 */
export async function listVersionIdsBetween(
  db: Reader,
  first: VersionsTable,
  last: VersionsTable,
  limit: number,
): Promise<VersionId[]> {
  const rows = await db
    .selectFrom('versions')
    .select('id')
    .where('application_uid', '=', first.application_uid)
    .where(sql<boolean>`(created_at, id) >= (${first.created_at}, ${first.id})`)
    .where(sql<boolean>`(created_at, id) <= (${last.created_at}, ${last.id})`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Updates the version and returns its new row; undefined when it was deleted meanwhile. */
export function updateVersion(
  tx: Writer,
  version: VersionsTable,
  changes: Partial<VersionsTable>,
): Promise<VersionsTable | undefined> {
  return tx
    .updateTable('versions')
    .set(changes)
    .where('application_uid', '=', version.application_uid)
    .where('id', '=', version.id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteVersion(tx: Writer, version: VersionsTable): Promise<void> {
  await tx
    .deleteFrom('versions')
    .where('application_uid', '=', version.application_uid)
    .where('id', '=', version.id)
    .execute();
}

/** Removes at most `limit` versions of an application; returns a null for each, because versions have no content. */
export async function removeVersions(tx: Writer, applicationUid: string, limit: number): Promise<null[]> {
  const rows = await tx
    .deleteFrom('versions')
    .where('application_uid', '=', applicationUid)
    .where('id', 'in', (eb) =>
      eb.selectFrom('versions').select('id').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('id')
    .execute();
  return rows.map(() => null);
}

/** Returns the executables that a version refers to. */
export async function findExecutablesWithVersion(
  db: Reader,
  ids: readonly ExecutableId[],
): Promise<ExecutableId[]> {
  const rows = await db
    .selectFrom('versions')
    .select('executable_id')
    .distinct()
    .where('executable_id', 'in', ids)
    .execute();
  return rows.map((row) => row.executable_id);
}
