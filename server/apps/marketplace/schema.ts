/** Tables of the marketplace: published applications and versions, and the subscriptions to them. */
import type { MarketplaceState } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { SubscriptionState } from '@switchyard/contract/marketplace/subscriptions.ts';
import type {
  AccountId,
  ApplicationId,
  KeyId,
  VersionId,
  WorkerTokenId,
} from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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

/** A worker token of a subscriber whose workers receive the program. Removed with the app, and with the token. */
export interface AllowedWorkerTokensTable {
  subscription_id: string;
  worker_token_id: WorkerTokenId;
  /** The address of the person who allowed it; empty when unknown. */
  created_by: string;
  created_by_key: KeyId | null;
  created_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table marketplace_apps (
      subscription_id text primary key, partner_id text not null, id text not null,
      application_uid text not null unique, title text not null, description text not null,
      categories text not null, features text not null, state text not null, created_at bigint not null,
      updated_at bigint not null
    )`,
    sql`create index marketplace_apps_of_partner on marketplace_apps (partner_id, created_at, id)`,
    sql`create index marketplace_apps_by_age on marketplace_apps (created_at, id)`,
    sql`create table marketplace_versions (
      subscription_id text not null, id text not null, application_uid text not null,
      ref_version_id text not null, change_log text not null, created_at bigint not null,
      updated_at bigint not null, constraint marketplace_versions_key primary key (subscription_id, id)
    )`,
    sql`create index marketplace_versions_by_reference on marketplace_versions (application_uid, ref_version_id)`,
    sql`create table subscriptions (
      application_uid text primary key, account_id text not null, subscription_id text not null,
      state text not null, partner_id text not null, partner_name text not null, app_title text not null,
      created_at bigint not null
    )`,
    sql`create index subscriptions_by_account_id on subscriptions (account_id, created_at)`,
    sql`create index subscriptions_by_subscription_id on subscriptions (subscription_id, created_at)`,
    sql`create table allowed_worker_tokens (
      subscription_id text not null, worker_token_id text not null, created_by text not null default '',
      created_by_key text, created_at bigint not null default 0,
      constraint allowed_worker_tokens_key primary key (subscription_id, worker_token_id)
    )`,
    sql`create index allowed_worker_tokens_by_token on allowed_worker_tokens (worker_token_id)`,
  ]);
