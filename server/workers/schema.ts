/** Workers: the processes that run apps. A run is leased to a worker; a worker whose heartbeat stops loses its leases. */

import type { AccountId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import type { WorkerKind } from '@switchyard/contract/workers/workers.ts';
import type { Migration } from '../database/migrate.ts';

export interface WorkersTable {
  id: string;
  /** The data folder of the worker. It locks the folder, so a newer worker in it proves that the older one is dead. */
  folder_id: string;
  /** Capacity in JSON. */
  capacity: string;
  heartbeat_at: number;
  /** Host name. A worker of an earlier release does not write it, nor the version and its start. */
  host: string | null;
  version: string | null;
  started_at: number | null;
  /** When somebody drained the worker; it then claims no further run. */
  draining_at: number | null;
  /** The offer of the worker (offers.ts): labels in JSON; null for none. */
  labels: string | null;
  /** The cores and bytes that its runs may use together; null for a worker that counts slots alone. */
  cores: number | null;
  memory_bytes: number | null;
  /** Scratch disk of its runs, in bytes; null when it is unknown. */
  scratch_bytes: number | null;
  /** The account and applications whose runs it may claim, in JSON; null for all. */
  scope: string | null;
  /** Null stands for `process`, which workers of an earlier release are. */
  kind: WorkerKind | null;
  /** The worker token by which it authenticates; null for a process with access to the database. */
  token_id: string | null;
  /** The job by which the provisioner started it; null for a worker that somebody started. */
  job_id: string | null;
  /** Level of isolation of its runs; null for a worker of an earlier release. */
  containment: 'sandbox' | 'limits' | null;
}

/** A worker that was declared dead. The row is removed a day later. */
export interface LostWorkersTable {
  id: string;
  heartbeat_at: number;
  lost_at: number;
}

/** The credentials of remote workers. A token itself is stored nowhere. */
export interface WorkerTokensTable {
  id: WorkerTokenId;
  account_id: AccountId;
  name: string;
  /** SHA-256 of the token in hex. */
  hash: string;
  /** The applications whose runs its workers execute, in JSON; null for all. */
  application_uids: string | null;
  /** The labels that its workers may offer, in JSON; null for any. */
  labels: string | null;
  serves_all_accounts: 0 | 1;
  created_at: number;
  /** Email address of the member who created it; empty for a token of the server itself. */
  created_by: string;
  last_used_at: number | null;
}

/** Jobs whose worker has registered. A worker with a short idle time can leave before the provisioner sees its row. */
interface RegisteredJobsTable {
  job_id: string;
  registered_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    registered_jobs: RegisteredJobsTable;
    worker_tokens: WorkerTokensTable;
    workers: WorkersTable;
    lost_workers: LostWorkersTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0007-workers',
    async up(db) {
      await db.schema
        .createTable('workers')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('folder_id', 'text', (column) => column.notNull())
        .addColumn('capacity', 'text', (column) => column.notNull())
        .addColumn('heartbeat_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0110-worker-details',
    async up(db) {
      await db.schema.alterTable('workers').addColumn('host', 'text').execute();
      await db.schema.alterTable('workers').addColumn('version', 'text').execute();
      await db.schema.alterTable('workers').addColumn('started_at', 'bigint').execute();
      await db.schema.alterTable('workers').addColumn('draining_at', 'bigint').execute();
    },
  },
  {
    name: '0117-lost-workers',
    async up(db) {
      await db.schema
        .createTable('lost_workers')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('heartbeat_at', 'bigint', (column) => column.notNull())
        .addColumn('lost_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0142-worker-offers',
    async up(db) {
      await db.schema.alterTable('workers').addColumn('labels', 'text').execute();
      await db.schema.alterTable('workers').addColumn('cores', 'double precision').execute();
      await db.schema.alterTable('workers').addColumn('memory_bytes', 'bigint').execute();
      await db.schema.alterTable('workers').addColumn('scratch_bytes', 'bigint').execute();
      await db.schema.alterTable('workers').addColumn('scope', 'text').execute();
      await db.schema.alterTable('workers').addColumn('kind', 'text').execute();
      await db.schema.alterTable('workers').addColumn('token_id', 'text').execute();
      await db.schema.alterTable('workers').addColumn('job_id', 'text').execute();
    },
  },
  {
    name: '0146-worker-tokens',
    async up(db) {
      await db.schema.alterTable('workers').addColumn('containment', 'text').execute();
      await db.schema
        .createTable('worker_tokens')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('application_uids', 'text')
        .addColumn('labels', 'text')
        .addColumn('serves_all_accounts', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint')
        .execute();
      await db.schema
        .createIndex('worker_tokens_of_account')
        .on('worker_tokens')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
    },
  },
  {
    name: '0161-registered-jobs',
    async up(db) {
      await db.schema
        .createTable('registered_jobs')
        .addColumn('job_id', 'text', (column) => column.primaryKey())
        .addColumn('registered_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
