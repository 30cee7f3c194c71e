/** Tables of usage: one record for each ended run, which a job adds to the total of its day, application and user. */
import type { RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Generated } from 'kysely';
import type { Migration } from '../database/migrate.ts';
import { insertUsageOfStoredRuns } from './stored-runs.ts';

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

interface CostRatesTable {
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
}

/** The tokens of a licence of an account. Their use is not stored: it is that of the running runs. */
export interface AccountLicensesTable {
  account_id: AccountId;
  name: string;
  total: number;
}

declare module '../database/database.ts' {
  interface Tables {
    usage_records: UsageRecordsTable;
    usage_days: UsageDaysTable;
    cost_rates: CostRatesTable;
    account_quotas: AccountQuotasTable;
    account_licenses: AccountLicensesTable;
    application_quotas: ApplicationQuotasTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0089-usage',
    async up(db, types) {
      await db.schema
        .createTable('usage_records')
        .addColumn('seq', types.sequence)
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('ended_at', 'bigint', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('run_type', 'text', (column) => column.notNull())
        .addColumn('execution_class', 'text', (column) => column.notNull())
        .addColumn('execution_ms', 'double precision')
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('usage_days')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('day', 'integer', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('runs', 'bigint', (column) => column.notNull())
        .addColumn('failed_runs', 'bigint', (column) => column.notNull())
        .addColumn('run_ms', 'double precision', (column) => column.notNull())
        .addColumn('core_ms', 'double precision', (column) => column.notNull())
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('usage_days_key', ['account_id', 'day', 'application_id', 'user_email'])
        .execute();
      await db.schema
        .createTable('cost_rates')
        .addColumn('account_id', 'text', (column) => column.primaryKey())
        .addColumn('currency', 'text', (column) => column.notNull())
        .addColumn('per_core_hour', 'double precision', (column) => column.notNull())
        .execute();
      await insertUsageOfStoredRuns(db);
    },
  },
  {
    name: '0111-quotas',
    async up(db) {
      await db.schema
        .createTable('account_quotas')
        .addColumn('account_id', 'text', (column) => column.primaryKey())
        .addColumn('concurrent_runs', 'integer')
        .addColumn('core_hours', 'double precision')
        .execute();
    },
  },
  {
    name: '0129-application-quotas',
    async up(db) {
      await db.schema
        .createTable('application_quotas')
        .addColumn('application_uid', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('concurrent_runs', 'integer')
        .addColumn('core_hours', 'double precision')
        .execute();
      await db.schema
        .createIndex('application_quotas_account')
        .on('application_quotas')
        .columns(['account_id', 'application_id'])
        .execute();
    },
  },
  {
    name: '0144-licenses',
    async up(db) {
      await db.schema
        .createTable('account_licenses')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('total', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('account_licenses_key', ['account_id', 'name'])
        .execute();
    },
  },
];
