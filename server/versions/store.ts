/** Every statement on versions. */
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list-order.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import type { PageRequest } from '../http/lists/pagination.ts';
import type { VersionsTable } from './schema.ts';

/** false when the application has one of that id. */
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

/** The executables of versions of the application, by the version. */
export async function findExecutableIds(
  db: Reader,
  applicationUid: string,
  ids: readonly VersionId[],
): Promise<Map<VersionId, ExecutableId>> {
  const found = new Map<VersionId, ExecutableId>();
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const rows = await db
      .selectFrom('versions')
      .select(['id', 'executable_id'])
      .where('application_uid', '=', applicationUid)
      .where('id', 'in', ids.slice(from, from + IDS_PER_STATEMENT))
      .execute();
    for (const row of rows) found.set(row.id, row.executable_id);
  }
  return found;
}

const IDS_PER_STATEMENT = 500;

/** Whether the version is there; nobody else deletes it, or with `change` begins to use it, until the transaction is over. */
export async function lockVersion(
  tx: Writer,
  wanted: { applicationUid: string; id: VersionId; change: boolean },
): Promise<boolean> {
  const query = tx
    .selectFrom('versions')
    .select('id')
    .where('application_uid', '=', wanted.applicationUid)
    .where('id', '=', wanted.id);
  const mode = wanted.change ? 'update' : 'share';
  return (await locked(tx, query, mode).executeTakeFirst()) !== undefined;
}

interface VersionOf {
  uid: string;
  version: VersionId;
  executable: ExecutableId;
}

const running = (db: Reader, { uid, version, executable }: VersionOf) =>
  db
    .selectFrom('versions')
    .innerJoin('executables', 'executables.id', 'versions.executable_id')
    .select('executables.id')
    .where('versions.application_uid', '=', uid)
    .where('versions.id', '=', version)
    .where('executables.id', '=', executable)
    .where('executables.archive_removed_at', 'is', null);
const shareRunning = prepareStatement((db, values: VersionOf) =>
  locked(db, running(db, values), 'share', 'executables'),
);

/**
 * Whether the version is there and runs the executable, whose archive nobody removes until the transaction is over. Asked in
 * a transaction that has locked the application, without which no version is deleted.
 */
export async function lockVersionWithExecutable(tx: Writer, values: VersionOf): Promise<boolean> {
  return (await shareRunning(tx, values)).length > 0;
}

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

/** The version as it is now; undefined when it was deleted meanwhile. */
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

/** Removes versions of an application, at most `limit` at once; answers a null for each, for they have no content. */
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

/** Which of the executables a version runs. */
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
