/** Statements on instances. */
import type { InstanceId, SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { InstancesTable } from './schema.ts';

/** Inserts the instance; returns false when the application has one with that id. */
export async function insertInstance(tx: Writer, instance: InstancesTable): Promise<boolean> {
  const result = await tx
    .insertInto('instances')
    .values(instance)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findInstance(
  db: Reader,
  applicationUid: string,
  id: InstanceId,
): Promise<InstancesTable | undefined> {
  return db
    .selectFrom('instances')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Locks the row of the instance until the transaction ends and returns it; undefined when it does not exist. */
export function lockInstance(
  tx: Writer,
  { application_uid, id }: Pick<InstancesTable, 'application_uid' | 'id'>,
): Promise<InstancesTable | undefined> {
  const query = tx
    .selectFrom('instances')
    .selectAll()
    .where('application_uid', '=', application_uid)
    .where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Returns an instance of the application that somebody locked, of the given version or of any. */
export function findLockedInstance(
  db: Reader,
  applicationUid: string,
  version?: VersionId,
): Promise<InstancesTable | undefined> {
  let query = db
    .selectFrom('instances')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('locked_at', 'is not', null)
    .orderBy('id')
    .limit(1);
  if (version !== undefined) query = query.where('version_id', '=', version);
  return query.executeTakeFirst();
}

/** Lists the ids of the instances that run the version. */
export async function listInstancesOfVersion(
  db: Reader,
  applicationUid: string,
  version: VersionId,
): Promise<InstanceId[]> {
  const rows = await db
    .selectFrom('instances')
    .select('id')
    .where('application_uid', '=', applicationUid)
    .where('version_id', '=', version)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

export async function findInstanceUsingSecrets(
  db: Reader,
  applicationUid: string,
  collection: SecretsCollectionId,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('instances')
    .select('id')
    .where('application_uid', '=', applicationUid)
    .where('secrets_collection_id', '=', collection)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** Lists instances, newest first; one row more than the limit shows that more follow. */
export function listInstances(
  db: Reader,
  applicationUid: string,
  page: PageRequest,
): Promise<InstancesTable[]> {
  let query = db
    .selectFrom('instances')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('instances', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Updates the instance and returns its new row; undefined when it was deleted meanwhile. */
export function updateInstance(
  tx: Writer,
  instance: InstancesTable,
  changes: Partial<InstancesTable>,
): Promise<InstancesTable | undefined> {
  return tx
    .updateTable('instances')
    .set(changes)
    .where('application_uid', '=', instance.application_uid)
    .where('id', '=', instance.id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteInstance(tx: Writer, instance: InstancesTable): Promise<void> {
  await tx
    .deleteFrom('instances')
    .where('application_uid', '=', instance.application_uid)
    .where('id', '=', instance.id)
    .execute();
}

/** Removes at most `limit` instances of an application; returns a null for each, because instances have no content. */
export async function removeInstances(tx: Writer, applicationUid: string, limit: number): Promise<null[]> {
  const rows = await tx
    .deleteFrom('instances')
    .where('application_uid', '=', applicationUid)
    .where('id', 'in', (eb) =>
      eb.selectFrom('instances').select('id').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('id')
    .execute();
  return rows.map(() => null);
}
