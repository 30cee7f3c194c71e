/** Operations on published versions. */
import { MARKETPLACE_VERSIONS_MAX } from '@switchyard/contract/limits.ts';
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import {
  badRequest,
  notFound,
  orThrow,
  type Problem,
  quoteValue,
} from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { findVersion } from '../versions/store.ts';
import { insertSubscriptionEntry } from './audit-entries.ts';
import { copyVersions, listPublishedPrograms } from './copy-versions.ts';
import { findVisibleApp, lockOwnApp } from './find-app.ts';
import { formatPublishedVersion } from './format-app.ts';
import type { MarketplaceAppsTable, MarketplaceVersionsTable } from './schema.ts';
import * as store from './store.ts';
import { lockSubscribedApplications } from './subscription-store.ts';

export const listMarketplaceVersions: OperationHandler<'listMarketplaceVersions'> = async (
  context,
  { caller, params, query },
) => {
  const app = await findVisibleApp(context.database.read, caller, params);
  return respondWithList(context, {
    tokenScope: `marketplace versions ${app.subscription_id}`,
    query,
    queryRows: (page) => store.listMarketplaceVersions(context.database.read, app.subscription_id, page),
    formatBodies: (rows) => rows.map((row) => formatPublishedVersion(app, row, caller.account)),
  });
};

export const createMarketplaceVersion: OperationHandler<'createMarketplaceVersion'> = async (
  context,
  { caller, params, body, commit },
) =>
  commit(async (tx) => {
    const app = await lockOwnApp(tx, caller, params);
    const { application_uid, subscription_id } = app;
    const source = await findVersion(tx, application_uid, body.ref_app_version_id);
    if (!source)
      throw badRequest(
        `ref_app_version_id is ${quoteValue(body.ref_app_version_id)}; it must be a version of the published application.`,
      );
    const now = context.clock.now();
    const row: MarketplaceVersionsTable = {
      ...{ subscription_id, application_uid, id: body.id, ref_version_id: source.id },
      ...{ change_log: JSON.stringify(body.change_log ?? []), created_at: now, updated_at: now },
    };
    const versions = await store.listMarketplaceVersions(tx, subscription_id, { after: null, limit: null });
    if (versions.length >= MARKETPLACE_VERSIONS_MAX)
      throw badRequest(
        `The app ${quoteValue(app.id)} has ${versions.length} versions, the most that it may have; publish it as another app.`,
      );
    if (!(await store.insertMarketplaceVersion(tx, row)))
      throw badRequest(`id is ${quoteValue(row.id)}, which another version of the app has; choose another.`);
    const programs = await listPublishedPrograms(tx, [row]);
    for (const application of await lockSubscribedApplications(tx, subscription_id)) {
      await copyVersions(tx, context, application, programs);
      const resource = { subscription_id, application_id: application.id, version_id: row.id };
      const entry = { account: application.account_id, resource };
      await insertSubscriptionEntry(tx, context, 'subscribedVersionAdded', entry);
    }
    return { status: 201, body: formatPublishedVersion(app, row, caller.account) };
  });

export const getMarketplaceVersion: OperationHandler<'getMarketplaceVersion'> = async (
  { database },
  { caller, params },
) => {
  const app = await findVisibleApp(database.read, caller, params);
  const id = params.marketplace_version_id;
  const row = orThrow(await store.findMarketplaceVersion(database.read, app.subscription_id, id), () =>
    versionNotFound(app, id),
  );
  return { status: 200, body: formatPublishedVersion(app, row, caller.account) };
};

export const updateMarketplaceVersion: OperationHandler<'updateMarketplaceVersion'> = async (
  { clock },
  { caller, params, body, commit },
) =>
  commit(async (tx) => {
    const app = await lockOwnApp(tx, caller, params);
    const id = params.marketplace_version_id;
    const row = orThrow(await store.findMarketplaceVersion(tx, app.subscription_id, id), () =>
      versionNotFound(app, id),
    );
    requireUnchanged({ noun: `version ${quoteValue(id)}`, updatedAt: row.updated_at }, body);
    const change_log = body.change_log ? JSON.stringify(body.change_log) : row.change_log;
    const changed = { ...row, change_log, updated_at: computeUpdateTime(clock.now(), row) };
    await store.updateChangeLog(tx, changed);
    return { status: 200, body: formatPublishedVersion(app, changed, caller.account) };
  });

function versionNotFound(app: MarketplaceAppsTable, id: VersionId): Problem {
  return notFound(`There is no version ${quoteValue(id)} of the app ${quoteValue(app.id)}.`);
}
