/** Statements on published applications and versions. The statements on subscriptions are in subscription-store.ts. */
import type { AccountId, ApplicationId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { MarketplaceAppsTable, MarketplaceVersionsTable } from './schema.ts';

/** Returns the id with which accounts subscribe. Ids of accounts have one form, so two apps never share one. */
export function formatSubscriptionId(partner: AccountId, id: ApplicationId): string {
  return `${partner}-${id}`;
}

/** Inserts the app; returns false when the partner has one with the id, or has published the application already. */
export async function insertMarketplaceApp(tx: Writer, app: MarketplaceAppsTable): Promise<boolean> {
  const result = await tx
    .insertInto('marketplace_apps')
    .values(app)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findMarketplaceApp(db: Reader, id: string): Promise<MarketplaceAppsTable | undefined> {
  return db.selectFrom('marketplace_apps').selectAll().where('subscription_id', '=', id).executeTakeFirst();
}

/**
 * Locks the app until the transaction ends: `update` for the partner, `share` for a subscriber. Locks come in this order: the
 * published application, the app, the applications of subscribers.
 */
export function lockMarketplaceApp(
  tx: Writer,
  id: string,
  lock: 'update' | 'share',
): Promise<MarketplaceAppsTable | undefined> {
  const query = tx.selectFrom('marketplace_apps').selectAll().where('subscription_id', '=', id);
  return locked(tx, query, lock).executeTakeFirst();
}

/** The apps of a list: those that `viewer` publishes, and the released ones; `partner` limits them to one partner. */
export interface AppFilter {
  viewer: AccountId;
  partner: AccountId | null;
}

/** Lists apps, newest first; one row more than the limit shows that more follow. */
export function listMarketplaceApps(
  db: Reader,
  { viewer, partner }: AppFilter,
  page: PageRequest,
): Promise<MarketplaceAppsTable[]> {
  let query = db
    .selectFrom('marketplace_apps')
    .selectAll()
    .where((eb) => eb.or([eb('state', '=', 'released'), eb('partner_id', '=', viewer)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (partner !== null) query = query.where('partner_id', '=', partner);
  if (page.after) query = query.where(isAfter('marketplace_apps', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Lists the apps that publish the application, or any application of the partner. */
export function listPublishedApps(
  db: Reader,
  of: { applicationUid: string } | { partner: AccountId },
): Promise<MarketplaceAppsTable[]> {
  const query = db.selectFrom('marketplace_apps').selectAll();
  return 'partner' in of
    ? query.where('partner_id', '=', of.partner).execute()
    : query.where('application_uid', '=', of.applicationUid).execute();
}

export async function updateMarketplaceApp(
  tx: Writer,
  id: string,
  changes: Partial<MarketplaceAppsTable>,
): Promise<void> {
  await tx.updateTable('marketplace_apps').set(changes).where('subscription_id', '=', id).execute();
}

/** Removes the app with its versions. */
export async function removeMarketplaceApp(tx: Writer, id: string): Promise<void> {
  await tx.deleteFrom('marketplace_versions').where('subscription_id', '=', id).execute();
  await tx.deleteFrom('allowed_worker_tokens').where('subscription_id', '=', id).execute();
  await tx.deleteFrom('marketplace_apps').where('subscription_id', '=', id).execute();
}

/** Inserts the version; returns false when the app has one with the id. */
export async function insertMarketplaceVersion(
  tx: Writer,
  version: MarketplaceVersionsTable,
): Promise<boolean> {
  const result = await tx
    .insertInto('marketplace_versions')
    .values(version)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findMarketplaceVersion(
  db: Reader,
  app: string,
  id: VersionId,
): Promise<MarketplaceVersionsTable | undefined> {
  return db
    .selectFrom('marketplace_versions')
    .selectAll()
    .where('subscription_id', '=', app)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the published version of a version of an application; undefined when it is not published. */
export function findPublishedVersion(
  tx: Writer,
  applicationUid: string,
  refVersionId: VersionId,
): Promise<MarketplaceVersionsTable | undefined> {
  return tx
    .selectFrom('marketplace_versions')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('ref_version_id', '=', refVersionId)
    .limit(1)
    .executeTakeFirst();
}

/** Lists versions, newest first; one row more than the limit shows that more follow. */
export function listMarketplaceVersions(
  db: Reader,
  app: string,
  page: PageRequest,
): Promise<MarketplaceVersionsTable[]> {
  let query = db
    .selectFrom('marketplace_versions')
    .selectAll()
    .where('subscription_id', '=', app)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('marketplace_versions', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Stores the change log of the version. */
export async function updateChangeLog(
  tx: Writer,
  { subscription_id, id, change_log, updated_at }: MarketplaceVersionsTable,
): Promise<void> {
  await tx
    .updateTable('marketplace_versions')
    .set({ change_log, updated_at })
    .where('subscription_id', '=', subscription_id)
    .where('id', '=', id)
    .execute();
}
