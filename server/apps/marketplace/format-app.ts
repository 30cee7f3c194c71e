/** Response bodies of the marketplace. Some fields of an app are for its partner only. */
import { LATEST_VERSIONS_MAX } from '@switchyard/contract/limits.ts';
import type {
  MarketplaceApp,
  MarketplaceVersion,
} from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { findAccount } from '../../accounts/account/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { findLiveApplication } from '../applications/store.ts';
import { listAllowedTokens } from './allowed-worker-tokens.ts';
import type { MarketplaceAppsTable, MarketplaceVersionsTable } from './schema.ts';
import { listMarketplaceVersions } from './store.ts';
import type { SubscriptionRow } from './subscription-store.ts';

const parseCategories = parseColumn(
  'marketplace_apps',
  'subscription_id',
  'categories',
  Type.Array(Type.String()),
);
const parseFeatures = parseColumn(
  'marketplace_apps',
  'subscription_id',
  'features',
  Type.Array(Type.String()),
);

/** Formats the app for a caller of the account. */
export async function formatApp(
  db: Reader,
  row: MarketplaceAppsTable,
  viewer: AccountId,
): Promise<MarketplaceApp> {
  const partner = await findAccount(db, row.partner_id);
  const published =
    row.partner_id === viewer ? await findLiveApplication(db, row.application_uid) : undefined;
  const latest = await listMarketplaceVersions(db, row.subscription_id, {
    after: null,
    limit: LATEST_VERSIONS_MAX,
  });
  return {
    id: row.id,
    partner_id: row.partner_id,
    partner_name: partner?.name ?? '',
    title: row.title,
    description: row.description,
    categories: parseCategories(row),
    features: parseFeatures(row),
    state: row.state,
    ref_app_id: published?.id ?? null,
    latest_versions: latest.slice(0, LATEST_VERSIONS_MAX).map(({ id }) => id),
    worker_tokens: row.partner_id === viewer ? await listAllowedTokens(db, row.subscription_id) : null,
    subscription_id: row.subscription_id,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

export const parseChangeLog = parseColumn(
  'marketplace_versions',
  'id',
  'change_log',
  Type.Array(Type.String()),
);

/** Formats a version of the app for a caller of the account. */
export function formatPublishedVersion(
  app: MarketplaceAppsTable,
  row: MarketplaceVersionsTable,
  viewer: AccountId,
): MarketplaceVersion {
  return {
    id: row.id,
    app_id: app.id,
    partner_id: app.partner_id,
    change_log: parseChangeLog(row),
    ref_app_version_id: app.partner_id === viewer ? row.ref_version_id : null,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** Formats a subscription that its account has not ended. */
export function formatSubscription(row: SubscriptionRow): Subscription {
  return {
    subscription_id: row.subscription_id,
    partner_name: row.partner_name,
    app_title: row.app_title,
    subscription_date: formatRfc3339(row.created_at),
    application_id: row.application_id,
    application_name: row.application_name,
    state: row.state === 'unsubscribed' ? 'ended' : row.state,
  };
}
