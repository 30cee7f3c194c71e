/** Lists all stored rows and blobs, for tests that check for orphans and unwanted changes. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { MARKER_FILE } from '../../platform/blobs/blob-store.ts';
import type { TestServer } from './test-server.ts';

/** Returns the number of rows of every table of the database, those of libraries included. */
export async function countRowsByTable(server: TestServer): Promise<Record<string, number>> {
  const { read } = server.runningServer.database;
  const counts: Record<string, number> = {};
  for (const { name } of await read.introspection.getTables({ withInternalKyselyTables: true })) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(read);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

/** Lists the blobs on the disk, complete and incomplete ones. */
export function listBlobs(server: TestServer): string[] {
  return readdirSync(join(server.dataFolder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== MARKER_FILE)
    .map((entry) => entry.name);
}

/** The tables of resources that callers create, without the internal tables of the server. */
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
  ...['marketplace_apps', 'marketplace_versions', 'subscriptions'],
];

/** Returns every row of every resource as sorted text, so that a test can compare two states. */
export async function listRowsAndBlobs(server: TestServer): Promise<string[]> {
  const { read } = server.runningServer.database;
  const lines: string[] = [];
  for (const name of RESOURCES) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(read);
    // A rejected request also updates the time of the last use of its key.
    for (const row of rows) lines.push(`${name} ${JSON.stringify({ ...row, last_used_at: null })}`);
  }
  return lines.sort();
}

/** Counts the rows that a job will change: unfinished runs and experiments, and pending events and deliveries. */
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
