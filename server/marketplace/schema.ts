/** Tables of the marketplace: published applications and versions, and the subscriptions to them. */
import type { MarketplaceState } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { SubscriptionState } from '@switchyard/contract/marketplace/subscriptions.ts';
import type { AccountId, ApplicationId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

export interface MarketplaceAppsTable {
  /** Id of the partner, a hyphen, and the id of the app. */
  subscription_id: string;
  partner_id: AccountId;
  id: ApplicationId;
  /** The application that is published. */
  application_uid: string;
  title: string;
  description: string;
  /** A list, in JSON. */
  categories: string;
  /** A list, in JSON. */
  features: string;
  state: MarketplaceState;
  created_at: number;
  updated_at: number;
}

export interface MarketplaceVersionsTable {
  subscription_id: string;
  id: VersionId;
  /** The application that is published, and its version. */
  application_uid: string;
  ref_version_id: VersionId;
  /** A list, in JSON. */
  change_log: string;
  created_at: number;
  updated_at: number;
}

/** The subscription of an application of the type `subscription`. The row exists as long as the application. */
export interface SubscriptionsTable {
  application_uid: string;
  account_id: AccountId;
  subscription_id: string;
  state: SubscriptionState;
  partner_id: AccountId;
  /** The texts as of the last change by the partner; they outlive its app. */
  partner_name: string;
  app_title: string;
  created_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    marketplace_apps: MarketplaceAppsTable;
    marketplace_versions: MarketplaceVersionsTable;
    subscriptions: SubscriptionsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0141-marketplace',
    async up(db) {
      await db.schema
        .createTable('marketplace_apps')
        .addColumn('subscription_id', 'text', (column) => column.primaryKey())
        .addColumn('partner_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('application_uid', 'text', (column) => column.notNull().unique())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('categories', 'text', (column) => column.notNull())
        .addColumn('features', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('marketplace_apps_of_partner')
        .on('marketplace_apps')
        .columns(['partner_id', 'created_at', 'id'])
        .execute();
      await db.schema
        .createIndex('marketplace_apps_by_age')
        .on('marketplace_apps')
        .columns(['created_at', 'id'])
        .execute();
      await db.schema
        .createTable('marketplace_versions')
        .addColumn('subscription_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('ref_version_id', 'text', (column) => column.notNull())
        .addColumn('change_log', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('marketplace_versions_key', ['subscription_id', 'id'])
        .execute();
      await db.schema
        .createIndex('marketplace_versions_by_reference')
        .on('marketplace_versions')
        .columns(['application_uid', 'ref_version_id'])
        .execute();
      await db.schema
        .createTable('subscriptions')
        .addColumn('application_uid', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('subscription_id', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('partner_id', 'text', (column) => column.notNull())
        .addColumn('partner_name', 'text', (column) => column.notNull())
        .addColumn('app_title', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      for (const column of ['account_id', 'subscription_id'])
        await db.schema
          .createIndex(`subscriptions_by_${column}`)
          .on('subscriptions')
          .columns([column, 'created_at'])
          .execute();
    },
  },
];
