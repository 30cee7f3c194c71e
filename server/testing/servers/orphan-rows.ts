/** What is kept, wherever it is kept: for tests that ask whether anything was left behind. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { MARKER_FILE } from '../../blobs/blob-store.ts';
import type { TestServer } from './test-server.ts';

/** Every table of the database, whoever made it, with how many rows it has. */
export async function countRowsByTable(server: TestServer): Promise<Record<string, number>> {
  const { read } = server.runningServer.database;
  const counts: Record<string, number> = {};
  for (const { name } of await read.introspection.getTables({ withInternalKyselyTables: true })) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(read);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

/** Blobs on the disk, whole and half-written ones. */
export function listBlobs(server: TestServer): string[] {
  return readdirSync(join(server.dataFolder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== MARKER_FILE)
    .map((entry) => entry.name);
}

/** Where what callers make is kept; not what the server notes of itself and of who asked. */
const RESOURCES = [
  ...[
    'accounts',
    'members',
    'keys',
    'applications',
    'executables',
    'versions',
    'instances',
    'uploads',
    'contents',
  ],
  ...[
    'secrets_collections',
    'runs',
    'run_events',
    'run_routes',
    'planned_runs',
    'assets',
    'inputs',
    'input_sets',
  ],
  ...['ensembles', 'experiments', 'acceptance_tests', 'webhooks', 'webhook_events'],
];

/** Every row of every resource as text, in an order of its own: for tests that ask whether anything was changed. */
export async function listRowsAndBlobs(server: TestServer): Promise<string[]> {
  const { read } = server.runningServer.database;
  const all: string[] = [];
  for (const name of RESOURCES) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(read);
    // A key that was refused was used all the same.
    for (const row of rows) all.push(`${name} ${JSON.stringify({ ...row, last_used_at: null })}`);
  }
  return all.sort();
}

/** Rows that the server will change by itself: what runs, is to run, or is to be told. */
export async function countPendingJobs(server: TestServer): Promise<number> {
  const { read } = server.runningServer.database;
  const { rows } = await sql<{ n: number }>`
    select (select count(*) from runs where status in ('queued', 'running'))
      + (select count(*) from planned_runs)
      + (select count(*) from experiments where type = 'batch' and status = 'started')
      + (select count(*) from acceptance_tests where status = 'started')
      + (select count(*) from run_events where pending = 1)
      + (select count(*) from webhook_deliveries) as n
  `.execute(read);
  return Number(rows[0]?.n);
}
