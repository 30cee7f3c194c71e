import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';

/** Names an app of the marketplace. */
export type AppParams = Record<'partner_id' | 'marketplace_app_id', string>;

/** Returns the parameters of the app in the address. The server checks both ids. */
export function readAppParams({ partner, app }: { partner: string; app: string }): AppParams {
  return { partner_id: partner, marketplace_app_id: app };
}

/** The released apps of the server and those that the account publishes, newest first, by pages. */
export const appsQuery = pagedQuery<MarketplaceApp>(
  ['listMarketplaceApps'],
  async (query, signal) => (await client.call('listMarketplaceApps', { query, signal })).body,
);

/** One app of the marketplace. */
export const appQuery = (params: AppParams) => operationQuery('getMarketplaceApp', { params });

/** The published versions of an app, newest first. */
export const publishedVersionsQuery = (params: AppParams) =>
  operationQuery('listMarketplaceVersions', { params });

/** Reads the apps again after the publisher changed one. */
export async function refreshApps(): Promise<void> {
  await Promise.all(
    ['listMarketplaceApps', 'getMarketplaceApp', 'listMarketplaceVersions'].map((id) =>
      queryClient.invalidateQueries({ queryKey: [id] }),
    ),
  );
}
