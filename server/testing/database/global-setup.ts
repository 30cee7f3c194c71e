/**
 * Runs before all tests. Creates one database with every table and no row, of which every test server gets a copy. With
 * `DATABASE=postgres` it is on a PostgreSQL server that runs until the end of all tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrations } from '../../ops/migrations.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openPostgres } from '../../platform/database/postgres/postgres.ts';
import { openSqlite } from '../../platform/database/sqlite/sqlite.ts';
import { createLog } from '../../platform/log.ts';
import { createDatabase, startPostgres, TEMPLATE_DATABASE } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the PostgreSQL server; empty: the tests run on SQLite. */
    postgres: string;
    /** The file of the SQLite database that test servers copy; empty: the tests run on PostgreSQL. */
    sqliteTemplate: string;
  }
}

/** Creates the template database, and returns a function that removes it after all tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env.DATABASE !== 'postgres') {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-template-'));
    const path = join(folder, 'template.db');
    const database = openSqlite(path);
    await migrate(database, migrations);
    await database.close();
    project.provide('postgres', '');
    project.provide('sqliteTemplate', path);
    return async () => rmSync(folder, { recursive: true });
  }
  const server = await startPostgres({ isInMemory: true });
  const empty = await openPostgres(await createDatabase(server.url, TEMPLATE_DATABASE), createLog('silent'));
  await migrate(empty, migrations);
  await empty.close();
  project.provide('postgres', server.url);
  project.provide('sqliteTemplate', '');
  return () => server.stop();
}
