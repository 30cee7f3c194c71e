/**
 * Before all tests: with `DATABASE=postgres` one PostgreSQL server is started for the whole run, and every test server
 * gets a database of its own on it.
 */
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';

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
  project.provide('postgres', server.address);
  return () => server.stop();
}
