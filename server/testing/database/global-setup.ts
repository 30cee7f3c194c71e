/**
 * Before all tests: with `DATABASE=postgres` one PostgreSQL server is started for the whole run, and every test server
 * gets a database of its own on it: a copy of one whose tables are made here.
 */
import type { TestProject } from 'vitest/node';
import { migrate } from '../../database/migrate.ts';
import { openPostgres } from '../../database/postgres/postgres.ts';
import { createLog } from '../../log.ts';
import { migrations } from '../../migrations.ts';
import { createDatabase, startPostgres, TEMPLATE_DATABASE } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty: the tests run on SQLite. */
    postgres: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env.DATABASE !== 'postgres') {
    project.provide('postgres', '');
    return async () => {};
  }
  const server = await startPostgres();
  const empty = await openPostgres(await createDatabase(server.url, TEMPLATE_DATABASE), createLog('silent'));
  await migrate(empty, migrations);
  await empty.close();
  project.provide('postgres', server.url);
  return () => server.stop();
}
