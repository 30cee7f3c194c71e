/** Operations on published applications. */
import type { MarketplaceState } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import { lockMakerAccount } from '../../accounts/account/access-changes.ts';
import { findAccount } from '../../accounts/account/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { getReferencedApplication, lockApplication } from '../applications/store.ts';
import { replaceAllowedTokens } from './allowed-worker-tokens.ts';
import { insertSubscriptionEntry } from './audit-entries.ts';
import { findVisibleApp, lockOwnApp, requirePartner } from './find-app.ts';
import { formatApp } from './format-app.ts';
import type { MarketplaceAppsTable } from './schema.ts';
import * as store from './store.ts';
import { lockSubscribedApplications, updateSubscriptions } from './subscription-store.ts';

const FIRST_APP = { after: null, limit: 1 };

export const listMarketplaceApps: OperationHandler<'listMarketplaceApps'> = async (
  context,
  { caller, query },
) => {
  const filter = { viewer: caller.account, partner: null };
  return respondWithList(context, {
    tokenScope: `marketplace ${caller.account}`,
    query,
    queryRows: (page) => store.listMarketplaceApps(context.database.read, filter, page),
    formatBodies: (rows) =>
      Promise.all(rows.map((row) => formatApp(context.database.read, row, caller.account))),
  });
};

export const listPartnerApps: OperationHandler<'listPartnerApps'> = async (
  context,
  { caller, params, query },
) => {
  const filter = { viewer: caller.account, partner: params.partner_id };
  const isOwn = params.partner_id === caller.account;
  if (!isOwn && (await store.listMarketplaceApps(context.database.read, filter, FIRST_APP)).length === 0)
    throw notFound(`There is no partner ${quoteValue(params.partner_id)} with a released app.`);
  return respondWithList(context, {
    tokenScope: `marketplace ${caller.account} ${params.partner_id}`,
    query,
    queryRows: (page) => store.listMarketplaceApps(context.database.read, filter, page),
    formatBodies: (rows) =>
      Promise.all(rows.map((row) => formatApp(context.database.read, row, caller.account))),
  });
};

export const createMarketplaceApp: OperationHandler<'createMarketplaceApp'> = async (
  { database, clock },
  { caller, params, body, commit },
) => {
  requirePartner(caller, params.partner_id);
  const reference = { field: 'ref_app_id', id: body.ref_app_id };
  const application = await getReferencedApplication(database.read, caller.account, reference);
  if (application.type === 'subscription')
    throw badRequest(
      `ref_app_id is ${quoteValue(application.id)}, the application of a subscription; publish one that you push yourself.`,
    );
  const now = clock.now();
  const row: MarketplaceAppsTable = {
    subscription_id: store.formatSubscriptionId(caller.account, body.id),
    partner_id: caller.account,
    id: body.id,
    application_uid: application.uid,
    title: body.title,
    description: body.description ?? '',
    categories: JSON.stringify(body.categories ?? []),
    features: JSON.stringify(body.features ?? []),
    state: 'pre-release',
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (!(await store.insertMarketplaceApp(tx, row)))
      throw badRequest(
        `id is ${quoteValue(row.id)} and ref_app_id is ${quoteValue(application.id)}; you have published an app with that id, or that application, already.`,
      );
    return { status: 201, body: await formatApp(tx, row, caller.account) };
  });
};

export const getMarketplaceApp: OperationHandler<'getMarketplaceApp'> = async (
  { database },
  { caller, params },
) => {
  const app = await findVisibleApp(database.read, caller, params);
  return { status: 200, body: await formatApp(database.read, app, caller.account) };
};

export const updateMarketplaceApp: OperationHandler<'updateMarketplaceApp'> = async (
  context,
  { caller, params, body, commit },
) => {
  const committed = await commit(async (tx) => {
    if (body.worker_tokens) await lockMakerAccount(tx, caller);
    const app = await lockOwnApp(tx, caller, params);
    requireUnchanged({ noun: `app ${quoteValue(app.id)}`, updatedAt: app.updated_at }, body);
    const state = body.state ?? app.state;
    await checkState(tx, app, state);
    const changes = {
      title: body.title ?? app.title,
      description: body.description ?? app.description,
      categories: body.categories ? JSON.stringify(body.categories) : app.categories,
      features: body.features ? JSON.stringify(body.features) : app.features,
      state,
      updated_at: computeUpdateTime(context.clock.now(), app),
    };
    await store.updateMarketplaceApp(tx, app.subscription_id, changes);
    if (body.worker_tokens) {
      await requireWorkerTokens(context, tx, body.worker_tokens);
      await replaceAllowedTokens(tx, app.subscription_id, body.worker_tokens, {
        ...{ email: caller.email, key: caller.key, at: changes.updated_at },
      });
    }
    const changed = { ...app, ...changes };
    await updateSubscribers(context, tx, app.state, changed);
    return { status: 200 as const, body: await formatApp(tx, changed, caller.account) };
  });
  // Queued runs of subscribers may start on these workers now.
  if (body.worker_tokens) context.database.notify('runs-queued');
  return committed;
};

/** Throws a 400 for an id that no worker token has. */
async function requireWorkerTokens(
  { hasWorkerToken }: Pick<Context, 'hasWorkerToken'>,
  tx: Writer,
  ids: readonly WorkerTokenId[],
): Promise<void> {
  for (const id of ids)
    if (!(await hasWorkerToken(tx, id)))
      throw badRequest(
        `worker_tokens has ${quoteValue(id)}, which no worker token of this server has; give ids that subscribers read with GET /v1/account/worker-tokens.`,
      );
}

/** Throws a 400 for a state that the app cannot get. */
async function checkState(tx: Writer, app: MarketplaceAppsTable, state: MarketplaceState): Promise<void> {
  if (state === app.state) return;
  if (state === 'pre-release')
    throw badRequest(
      `state is "pre-release", and the app ${quoteValue(app.id)} is ${app.state}; a released app has subscribers. Retract it instead.`,
    );
  if (state === 'retracted') return;
  const versions = await store.listMarketplaceVersions(tx, app.subscription_id, { after: null, limit: 1 });
  if (versions.length === 0)
    throw badRequest(
      `state is "released", and the app ${quoteValue(app.id)} has no version that subscribers could run; publish one first.`,
    );
}

/** Stores the state and the texts of the app in the subscriptions, and writes an audit entry for each when the state changes. */
async function updateSubscribers(
  context: Pick<Context, 'clock' | 'random'>,
  tx: Writer,
  before: MarketplaceState,
  app: MarketplaceAppsTable,
): Promise<void> {
  const applications = await lockSubscribedApplications(tx, app.subscription_id);
  const partner = await findAccount(tx, app.partner_id);
  await updateSubscriptions(tx, app.subscription_id, {
    state: app.state === 'released' ? 'active' : 'retracted',
    app_title: app.title,
    ...(partner ? { partner_name: partner.name } : {}),
  });
  if (before === app.state) return;
  const event = app.state === 'released' ? 'subscriptionReleased' : 'subscriptionRetracted';
  for (const { account_id, id } of applications) {
    const resource = { subscription_id: app.subscription_id, application_id: id };
    await insertSubscriptionEntry(tx, context, event, { account: account_id, resource });
  }
}
