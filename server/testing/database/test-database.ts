/**
 * A database as the server has it, without a server: for rules and background jobs. A test that needs no HTTP, no runner and no
 * timers takes this and `insert-rows.ts`; it begins in 10 ms, where a server takes 100 ms of processor time.
 */
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Database } from '../../platform/database/database.ts';
import { openPostgres } from '../../platform/database/postgres/postgres.ts';
import { WAL_BYTES } from '../../platform/database/sqlite/checkpoints.ts';
import { openSqlite } from '../../platform/database/sqlite/sqlite.ts';
import { createLog } from '../../platform/log.ts';
import { createDatabase, dropDatabase, TEMPLATE_DATABASE } from './postgres-server.ts';

export interface TestDatabase {
  readonly database: Database;
  /** Connects as another process would; on SQLite, which has one process, it returns `database`. */
  connectAgain(): Promise<Database>;
  /** Closes every connection and removes the database. */
  close(): Promise<void>;
}

let databases = 0;

/**
 * Copies the database with every table and no row to the path, with a log of the length that the server would fill with
 * zeros. The hole that it is here reads as zeros too: 32 MiB of writes less for each of hundreds of servers.
 */
export function copySqliteTemplate(path: string): void {
  copyFileSync(inject('sqliteTemplate'), path);
  writeFileSync(`${path}-wal`, '');
  truncateSync(`${path}-wal`, WAL_BYTES);
}

/** Creates a PostgreSQL database for this process: with every table and no row, or empty. Returns its name and address. */
export async function createPostgresDatabase({ isEmpty = false } = {}): Promise<{
  name: string;
  address: string;
}> {
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  const template = isEmpty ? undefined : TEMPLATE_DATABASE;
  return { name, address: await createDatabase(inject('postgres'), name, template) };
}

/** Opens a database on the kind that the tests run on: with every table and no row, or empty. */
export async function openTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  return inject('postgres') === '' ? openSqliteCopy(isEmpty) : await openPostgresCopy(isEmpty);
}

function openSqliteCopy(isEmpty: boolean): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-database-'));
  const path = join(folder, 'test.db');
  if (!isEmpty) copySqliteTemplate(path);
  const database = openSqlite(path);
  return {
    database,
    connectAgain: async () => database,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openPostgresCopy(isEmpty: boolean): Promise<TestDatabase> {
  const { name, address } = await createPostgresDatabase({ isEmpty });
  const connect = () => openPostgres(address, createLog('silent'));
  const database = await connect();
  const opened = [database];
  return {
    database,
    async connectAgain() {
      const another = await connect();
      opened.push(another);
      return another;
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await dropDatabase(inject('postgres'), name);
    },
  };
}
