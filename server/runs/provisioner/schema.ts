/**
 * The tables of the provisioner. They are what a restarted server, or another one that takes over, knows about the jobs of
 * the cluster, so that it starts no worker twice.
 */
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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
  /** When a list of the cluster first lacked it; null while it is listed, and after a list that failed. */
  missing_since: number | null;
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

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table worker_jobs (
      name text primary key, adapter text not null, id text, state text not null, requested_at bigint not null,
      running_since bigint, worker_seen_at bigint, unneeded_since bigint, stop_requested_at bigint,
      pending_reason text, blocked_since bigint, missing_since bigint
    )`,
    sql`create table provisioner_state (
      one integer primary key, failures integer not null, failed_starts bigint not null, retry_at bigint,
      last_error text, last_error_at bigint, unservable_runs bigint not null, listed_at bigint
    )`,
  ]);
