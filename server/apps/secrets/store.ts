/** Statements on secrets collections. */
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import type { SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { DecryptionError, type Encryptor } from '../../platform/database/encryption.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { decryptSecrets, type SecretsOwner } from './encrypt.ts';
import type { SecretsCollectionsTable } from './schema.ts';

const SUMMARY = ['id', 'name', 'description', 'created_at', 'updated_at'] as const;

/** A collection without its secrets. */
export type CollectionSummary = Pick<SecretsCollectionsTable, (typeof SUMMARY)[number]>;

/** Inserts the collection; returns false when the application has one with that id. */
export async function insertCollection(tx: Writer, collection: SecretsCollectionsTable): Promise<boolean> {
  const result = await tx
    .insertInto('secrets_collections')
    .values(collection)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findCollection(
  db: Reader,
  applicationUid: string,
  id: SecretsCollectionId,
): Promise<SecretsCollectionsTable | undefined> {
  return db
    .selectFrom('secrets_collections')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function hasCollection(
  db: Reader,
  applicationUid: string,
  id: SecretsCollectionId,
): Promise<boolean> {
  const row = await db
    .selectFrom('secrets_collections')
    .select('id')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks the collection until the transaction ends: against deletion, or with `change` also against new uses. Returns false
 * when it does not exist.
 */
export async function lockCollection(
  tx: Writer,
  target: { applicationUid: string; id: SecretsCollectionId; change: boolean },
): Promise<boolean> {
  const query = tx
    .selectFrom('secrets_collections')
    .select('id')
    .where('application_uid', '=', target.applicationUid)
    .where('id', '=', target.id);
  const mode = target.change ? 'update' : 'share';
  return (await locked(tx, query, mode).executeTakeFirst()) !== undefined;
}

/** Lists collections, newest first; one row more than the limit shows that more follow. */
export function listCollections(
  db: Reader,
  applicationUid: string,
  page: PageRequest,
): Promise<CollectionSummary[]> {
  let query = db
    .selectFrom('secrets_collections')
    .select(SUMMARY)
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('secrets_collections', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Updates the collection and returns its new summary; undefined when it was deleted meanwhile. */
export function updateCollection(
  tx: Writer,
  applicationUid: string,
  id: SecretsCollectionId,
  changes: Partial<SecretsCollectionsTable>,
): Promise<CollectionSummary | undefined> {
  return tx
    .updateTable('secrets_collections')
    .set(changes)
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .returning(SUMMARY)
    .executeTakeFirst();
}

export async function deleteCollection(
  tx: Writer,
  applicationUid: string,
  id: SecretsCollectionId,
): Promise<void> {
  await tx
    .deleteFrom('secrets_collections')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .execute();
}

/** Removes at most `limit` collections of an application; returns a null for each, because collections have no content. */
export async function removeCollections(tx: Writer, applicationUid: string, limit: number): Promise<null[]> {
  const rows = await tx
    .deleteFrom('secrets_collections')
    .where('application_uid', '=', applicationUid)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('secrets_collections')
        .select('id')
        .where('application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('id')
    .execute();
  return rows.map(() => null);
}

/** Returns the secrets, or the message that says why they are not available. */
export async function readSecrets(
  db: Reader,
  encryptor: Encryptor,
  owner: SecretsOwner,
): Promise<{ secrets: Secret[] } | { error: string }> {
  const subject = `The secrets collection ${quoteValue(owner.id)} of the run`;
  const row = await findCollection(db, owner.applicationUid, owner.id);
  if (!row) return { error: `${subject} was deleted before the app was started.` };
  try {
    return { secrets: decryptSecrets(encryptor, row.secrets, owner) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return {
      error: `${subject} cannot be decrypted: it was altered, or written with another master key.`,
    };
  }
}
