/** What is kept, wherever it is kept: for tests that ask whether anything was left behind. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { TestServer } from './server.ts';

/** Every table of the database, whoever made it, with how many rows it has. */
export async function rowsByTable(server: TestServer): Promise<Record<string, number>> {
  const { read } = server.running.database;
  const counts: Record<string, number> = {};
  for (const { name } of await read.introspection.getTables({ withInternalKyselyTables: true })) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(read);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

/** Blobs on the disk, whole and half-written ones. */
export function blobsOf(server: TestServer): string[] {
  return readdirSync(join(server.data, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}
