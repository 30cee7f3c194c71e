/** Finds published applications for a caller. */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { notFound, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { findLiveApplication, lockLiveApplication } from '../applications/store.ts';
import type { MarketplaceAppsTable } from './schema.ts';
import { findMarketplaceApp, formatSubscriptionId, lockMarketplaceApp } from './store.ts';
import { findSubscription } from './subscription-store.ts';

/** The parameters that name an app. */
interface AppParams {
  partner_id: AccountId;
  marketplace_app_id: ApplicationId;
}

/** Throws a 404 unless the partner is the account of the caller. */
export function requirePartner(caller: Caller, partner: AccountId): void {
  if (partner === caller.account) return;
  throw notFound(
    `partner_id is ${quoteValue(partner)}, which is not your account; you publish as ${quoteValue(caller.account)}.`,
  );
}

/** Returns the app; throws a 404 for one that the caller may not see. */
export async function findVisibleApp(
  db: Reader,
  caller: Caller,
  { partner_id, marketplace_app_id }: AppParams,
): Promise<MarketplaceAppsTable> {
  const id = formatSubscriptionId(partner_id, marketplace_app_id);
  const app = await findMarketplaceApp(db, id);
  if (app && (app.partner_id === caller.account || app.state === 'released')) return app;
  const subscription = app && (await findSubscription(db, caller.account, id));
  if (app && subscription && subscription.state !== 'unsubscribed') return app;
  throw appNotFound(partner_id, marketplace_app_id);
}

/** Locks the app of the caller's account and the application that it publishes; throws a 404 for any other one. */
export async function lockOwnApp(
  tx: Writer,
  caller: Caller,
  { partner_id, marketplace_app_id }: AppParams,
): Promise<MarketplaceAppsTable> {
  requirePartner(caller, partner_id);
  const id = formatSubscriptionId(partner_id, marketplace_app_id);
  const found = await findMarketplaceApp(tx, id);
  const application = found && (await findLiveApplication(tx, found.application_uid));
  if (application) await lockLiveApplication(tx, application);
  const app = application && (await lockMarketplaceApp(tx, id, 'update'));
  if (!app) throw appNotFound(partner_id, marketplace_app_id);
  return app;
}

function appNotFound(partner: AccountId, id: ApplicationId): Problem {
  return notFound(
    `There is no app ${quoteValue(id)} of the partner ${quoteValue(partner)} that you may see.`,
  );
}
