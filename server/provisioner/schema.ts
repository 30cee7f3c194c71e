/**
 * The tables of the provisioner. They are what a restarted server, or another one that takes over, knows about the jobs of
 * the cluster, so that it starts no worker twice.
 */
import type { Migration } from '../database/migrate.ts';

/** A job of the cluster that starts, is, or was about to be a worker. The row goes with the job. */
export interface WorkerJobsTable {
  /** Written before the job is submitted, so that a job whose submission nobody saw the end of is found by its name. */
  name: string;
  /** The kind of the adapter that submitted the job. */
  adapter: string;
  /** The id that the cluster gave the job; null until then. */
  id: string | null;
  /** `starting` until the cluster lists the job. */
  state: 'starting' | 'pending' | 'running';
  requested_at: number;
  /** When it was first listed as running. */
  running_since: number | null;
  /** When its worker was last registered; null before the first time. */
  worker_seen_at: number | null;
  /** Since when no queued run needs it, while it has no worker yet. */
  unneeded_since: number | null;
  stop_requested_at: number | null;
  /** Why it does not run yet, in the words of the cluster; null once it runs, and when the cluster names no reason. */
  pending_reason: string | null;
  /** Since when its reason is one that does not pass by itself. */
  blocked_since: number | null;
}

/** One row: what the last runs of the provisioner found. */
export interface ProvisionerStateTable {
  one: number;
  /** Failed attempts since a worker last registered; the back-off grows with them. */
  failures: number;
  failed_starts: number;
  retry_at: number | null;
  last_error: string | null;
  last_error_at: number | null;
  /** Queued runs that no worker of the provisioner could execute. */
  unservable_runs: number;
  /** When the jobs were last listed. */
  listed_at: number | null;
}

declare module '../database/database.ts' {
  interface Tables {
    worker_jobs: WorkerJobsTable;
    provisioner_state: ProvisionerStateTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0150-provisioner',
    async up(db) {
      await db.schema
        .createTable('worker_jobs')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('adapter', 'text', (column) => column.notNull())
        .addColumn('id', 'text')
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('requested_at', 'bigint', (column) => column.notNull())
        .addColumn('running_since', 'bigint')
        .addColumn('worker_seen_at', 'bigint')
        .addColumn('unneeded_since', 'bigint')
        .addColumn('stop_requested_at', 'bigint')
        .execute();
      await db.schema
        .createTable('provisioner_state')
        .addColumn('one', 'integer', (column) => column.primaryKey())
        .addColumn('failures', 'integer', (column) => column.notNull())
        .addColumn('failed_starts', 'bigint', (column) => column.notNull())
        .addColumn('retry_at', 'bigint')
        .addColumn('last_error', 'text')
        .addColumn('last_error_at', 'bigint')
        .addColumn('unservable_runs', 'bigint', (column) => column.notNull())
        .addColumn('listed_at', 'bigint')
        .execute();
    },
  },
  {
    name: '0165-pending-reasons',
    async up(db) {
      await db.schema.alterTable('worker_jobs').addColumn('pending_reason', 'text').execute();
      await db.schema.alterTable('worker_jobs').addColumn('blocked_since', 'bigint').execute();
    },
  },
];
