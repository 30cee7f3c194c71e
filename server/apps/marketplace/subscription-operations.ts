/** Operations on the subscriptions of an account. */
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { lockCallerAccount } from '../../accounts/account/access-changes.ts';
import { findAccount } from '../../accounts/account/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import {
  badRequest,
  notFound,
  orThrow,
  type Problem,
  quoteValue,
} from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { makeId } from '../../platform/random.ts';
import { NO_TRUST } from '../applications/html-trust.ts';
import { NO_MEANING } from '../applications/meaning.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { findLiveApplication, insertApplication, lockApplication } from '../applications/store.ts';
import { insertSubscriptionEntry, reportEnd } from './audit-entries.ts';
import { copyVersions, listPublishedPrograms } from './copy-versions.ts';
import { formatSubscription } from './format-app.ts';
import type { MarketplaceAppsTable, SubscriptionsTable } from './schema.ts';
import { listMarketplaceVersions, lockMarketplaceApp } from './store.ts';
import * as store from './subscription-store.ts';

/** Leaves room for a random suffix in an id. */
const ID_PREFIX_CHARS_MAX = 40;

export const createSubscription: OperationHandler<'createSubscription'> = async (
  context,
  { caller, body, commit },
) =>
  commit(async (tx) => {
    // Two requests at once would create two applications.
    await lockCallerAccount(tx, caller);
    const app = await lockMarketplaceApp(tx, body.subscription_id, 'share');
    if (app?.state !== 'released')
      throw badRequest(
        `subscription_id is ${quoteValue(body.subscription_id)}; it must be that of a released app of the marketplace.`,
      );
    if (app.partner_id === caller.account)
      throw badRequest(
        `subscription_id is ${quoteValue(body.subscription_id)}, which your own account publishes; run the application itself.`,
      );
    const earlier = await store.findSubscription(tx, caller.account, app.subscription_id);
    if (earlier && earlier.state !== 'unsubscribed')
      throw badRequest(
        `subscription_id is ${quoteValue(body.subscription_id)}, to which the account has subscribed already, as application ${quoteValue(earlier.application_id)}.`,
      );
    const application = earlier
      ? await renewSubscription(context, tx, app, earlier)
      : await insertSubscription(context, tx, app, caller);
    const versions = await listMarketplaceVersions(tx, app.subscription_id, { after: null, limit: null });
    await copyVersions(tx, context, application, await listPublishedPrograms(tx, versions));
    const subscriber = await findAccount(tx, caller.account);
    await insertSubscriptionEntry(tx, context, 'subscriberAdded', {
      account: app.partner_id,
      resource: {
        subscription_id: app.subscription_id,
        subscriber_id: caller.account,
        subscriber_name: subscriber?.name ?? '',
      },
    });
    return {
      status: 201,
      body: formatSubscription(await getSubscriptionRow(tx, caller, app.subscription_id)),
    };
  });

export const listSubscriptions: OperationHandler<'listSubscriptions'> = async (context, { caller, query }) =>
  respondWithList(context, {
    tokenScope: `subscriptions ${caller.account}`,
    query,
    queryRows: (page) => store.listSubscriptions(context.database.read, caller.account, page),
    formatBodies: (rows) => rows.map(formatSubscription),
  });

export const getSubscription: OperationHandler<'getSubscription'> = async (
  { database },
  { caller, params },
) => ({
  status: 200,
  body: formatSubscription(await getSubscriptionRow(database.read, caller, params.subscription_id)),
});

export const deleteSubscription: OperationHandler<'deleteSubscription'> = async (
  context,
  { caller, params, commit },
) =>
  commit(async (tx) => {
    const row = await getSubscriptionRow(tx, caller, params.subscription_id);
    const application = await findLiveApplication(tx, row.application_uid);
    if (!application) throw subscriptionNotFound(params.subscription_id);
    await lockApplication(tx, application);
    await store.updateSubscription(tx, row.application_uid, { state: 'unsubscribed' });
    await reportEnd(tx, context, row);
    return { status: 204 };
  });

/** Returns the subscription of the caller; throws a 404 for one that does not exist or that the account has ended. */
async function getSubscriptionRow(
  db: Context['database']['read'],
  caller: Caller,
  id: string,
): Promise<store.SubscriptionRow> {
  const row = await store.findSubscription(db, caller.account, id);
  return orThrow(row?.state === 'unsubscribed' ? undefined : row, () => subscriptionNotFound(id));
}

function subscriptionNotFound(id: string): Problem {
  return notFound(`The account has no subscription ${quoteValue(id)}.`);
}

/** Makes the application of an earlier subscription accept runs again. */
async function renewSubscription(
  { clock }: Pick<Context, 'clock'>,
  tx: Writer,
  app: MarketplaceAppsTable,
  { application_uid }: SubscriptionsTable,
): Promise<ApplicationsTable> {
  const found = await findLiveApplication(tx, application_uid);
  if (!found)
    throw badRequest(
      'The application of the earlier subscription was deleted meanwhile; send the request again.',
    );
  const application = await lockApplication(tx, found);
  await store.updateSubscription(tx, application_uid, {
    ...(await describeApp(tx, app)),
    state: 'active',
    created_at: clock.now(),
  });
  return application;
}

/** Inserts the subscription with its application, which has no version yet. */
async function insertSubscription(
  { clock, random }: Pick<Context, 'clock' | 'random'>,
  tx: Writer,
  app: MarketplaceAppsTable,
  caller: Caller,
): Promise<ApplicationsTable> {
  const now = clock.now();
  const row: ApplicationsTable = {
    uid: makeId<string>(random, 'app'),
    account_id: caller.account,
    id: app.id,
    name: app.title,
    description: '',
    type: 'subscription',
    subscription_id: app.subscription_id,
    default_instance: '',
    default_experiment_instance: '',
    ...NO_MEANING,
    active_executable_id: null,
    ...NO_TRUST,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  const other = { ...row, id: makeId<ApplicationId>(random, app.id.slice(0, ID_PREFIX_CHARS_MAX)) };
  const application = (await insertApplication(tx, row)) ? row : other;
  if (application === other) await insertApplication(tx, other);
  await store.insertSubscription(tx, {
    ...{ application_uid: application.uid, account_id: caller.account, state: 'active', created_at: now },
    ...{ subscription_id: app.subscription_id, partner_id: app.partner_id },
    ...(await describeApp(tx, app)),
  });
  return application;
}

/** Returns the texts by which subscribers know the app. */
async function describeApp(
  tx: Writer,
  app: MarketplaceAppsTable,
): Promise<Pick<SubscriptionsTable, 'partner_name' | 'app_title'>> {
  const partner = await findAccount(tx, app.partner_id);
  return { partner_name: partner?.name ?? '', app_title: app.title };
}
