/** Tables of workflows: the child runs of each run whose app created runs, and the graphs that apps sent. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

/** A child run, under the request that created it; see children.ts. */
export interface RunChildrenTable {
  parent_run_id: RunId;
  /** SHA-256 of the request, in hex. */
  fingerprint: string;
  /** Counts equal requests of one attempt from 1. */
  occurrence: number;
  run_id: RunId;
  /** The fencing token of the last attempt of the parent that made this request. */
  fence: number;
}

export interface RunFlowsTable {
  run_id: RunId;
  /** The graph in JSON. */
  graph: string;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table run_children (
      parent_run_id text not null, fingerprint text not null, occurrence integer not null, run_id text not null,
      fence integer not null, constraint run_children_key primary key (parent_run_id, fingerprint, occurrence)
    )`,
    sql`create index run_children_by_run on run_children (run_id)`,
    sql`create table run_flows (run_id text primary key, graph text not null, updated_at bigint not null)`,
  ]);
