/** Tables of usage: one record for each ended run, which a job adds to the total of its day, application and user. */
import type { RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { type Generated, sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

/** An ended run that is not part of a total yet. */
export interface UsageRecordsTable {
  seq: Generated<number>;
  account_id: AccountId;
  application_id: ApplicationId;
  user_email: string;
  ended_at: number;
  status: RunStatusV2;
  run_type: RunTypeName;
  execution_class: string;
  /** null for a run that was not executed. */
  execution_ms: number | null;
  bytes: number;
  application_uid: string;
  /** How long it occupied its slot, in milliseconds; null for a run without a slot. */
  slot_ms: number | null;
}

/** The slot time of the runs of an application that ended in a minute; removed after some minutes. */
export interface SlotMinutesTable {
  /** Minutes since the epoch. */
  minute: number;
  account_id: AccountId;
  application_uid: string;
  slot_ms: number;
}

/** The total of one day, application and user. */
export interface UsageDaysTable {
  account_id: AccountId;
  /** Days since the epoch, in UTC. */
  day: number;
  application_id: ApplicationId;
  user_email: string;
  runs: number;
  failed_runs: number;
  run_ms: number;
  /** Execution time multiplied by the cores of the execution class. */
  core_ms: number;
  bytes: number;
}

export interface CostRatesTable {
  account_id: AccountId;
  currency: string;
  per_core_hour: number;
}

/** The quotas of an account; null for none. */
export interface AccountQuotasTable {
  account_id: AccountId;
  concurrent_runs: number | null;
  /** Core hours in a calendar month. */
  core_hours: number | null;
}

/** The quotas of an application; null for none. The id names its usage, which outlives it. */
export interface ApplicationQuotasTable {
  application_uid: string;
  account_id: AccountId;
  application_id: ApplicationId;
  concurrent_runs: number | null;
  core_hours: number | null;
  updated_at: number;
}

/** The tokens of a licence of an account. Their use is not stored: it is that of the running runs. */
export interface AccountLicensesTable {
  account_id: AccountId;
  name: string;
  total: number;
}

export const createTables: Migration['up'] = (db, { sequence }) =>
  executeAll(db, [
    sql`create table usage_records (
      seq ${sequence}, account_id text not null, application_id text not null, user_email text not null,
      ended_at bigint not null, status text not null, run_type text not null, execution_class text not null,
      execution_ms double precision, bytes bigint not null, application_uid text not null, slot_ms double precision
    )`,
    sql`create table usage_days (
      account_id text not null, day integer not null, application_id text not null, user_email text not null,
      runs bigint not null, failed_runs bigint not null, run_ms double precision not null,
      core_ms double precision not null, bytes bigint not null,
      constraint usage_days_key primary key (account_id, day, application_id, user_email)
    )`,
    sql`create table cost_rates (
      account_id text primary key, currency text not null, per_core_hour double precision not null
    )`,
    sql`create table account_quotas (
      account_id text primary key, concurrent_runs integer, core_hours double precision
    )`,
    sql`create table application_quotas (
      application_uid text primary key, account_id text not null, application_id text not null,
      concurrent_runs integer, core_hours double precision, updated_at bigint not null
    )`,
    sql`create index application_quotas_account on application_quotas (account_id, application_id)`,
    sql`create table account_licenses (
      account_id text not null, name text not null, total integer not null,
      constraint account_licenses_key primary key (account_id, name)
    )`,
    sql`create table slot_minutes (
      minute bigint not null, account_id text not null, application_uid text not null,
      slot_ms double precision not null,
      constraint slot_minutes_key primary key (minute, account_id, application_uid)
    )`,
  ]);
