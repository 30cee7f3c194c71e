/** Every statement on versions. */
import type { VersionId } from '@switchyard/contract/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list.ts';
import type { PageRequest } from '../http/paging.ts';
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

export async function updateVersion(
  tx: Writer,
  version: VersionsTable,
  changes: Partial<VersionsTable>,
): Promise<void> {
  await tx
    .updateTable('versions')
    .set(changes)
    .where('application_uid', '=', version.application_uid)
    .where('id', '=', version.id)
    .execute();
}

export async function deleteVersion(tx: Writer, version: VersionsTable): Promise<void> {
  await tx
    .deleteFrom('versions')
    .where('application_uid', '=', version.application_uid)
    .where('id', '=', version.id)
    .execute();
}

export async function removeVersions(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('versions').where('application_uid', '=', applicationUid).execute();
}
