/** Workers: the processes that run apps. A run is leased to a worker; a worker whose heartbeat stops loses its leases. */
import type { AccountId, KeyId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import type { WorkerKind } from '@switchyard/contract/workers/workers.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface WorkersTable {
  id: string;
  /** The data folder of the worker. It locks the folder, so a newer worker in it proves that the older one is dead. */
  folder_id: string;
  /** Capacity in JSON. */
  capacity: string;
  heartbeat_at: number;
  /** Host name. */
  host: string;
  version: string;
  started_at: number;
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
  kind: WorkerKind;
  /** The worker token by which it authenticates; null for a process with access to the database. */
  token_id: string | null;
  /** The job by which the provisioner started it; null for a worker that somebody started. */
  job_id: string | null;
  /** Level of isolation of its runs. */
  containment: 'sandbox' | 'limits';
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
  /** The key with which it was created; null when unknown. */
  created_by_key: KeyId | null;
  last_used_at: number | null;
}

/** Jobs whose worker has registered. A worker with a short idle time can leave before the provisioner sees its row. */
export interface RegisteredJobsTable {
  job_id: string;
  registered_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table workers (
      id text primary key, folder_id text not null, capacity text not null, heartbeat_at bigint not null,
      host text not null, version text not null, started_at bigint not null, draining_at bigint, labels text,
      cores double precision, memory_bytes bigint, scratch_bytes bigint, scope text, kind text not null,
      token_id text, job_id text, containment text not null
    )`,
    sql`create table lost_workers (id text primary key, heartbeat_at bigint not null, lost_at bigint not null)`,
    sql`create table worker_tokens (
      id text primary key, account_id text not null, name text not null, hash text not null,
      application_uids text, labels text, serves_all_accounts integer not null, created_at bigint not null,
      created_by text not null, last_used_at bigint, created_by_key text
    )`,
    sql`create index worker_tokens_of_account on worker_tokens (account_id, created_at, id)`,
    sql`create table registered_jobs (job_id text primary key, registered_at bigint not null)`,
  ]);
