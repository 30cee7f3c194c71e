/**
 * SQLite in the data folder, through node:sqlite.
 *
 * Two connections in this process: `write`, which one transaction holds at a time, and `read`, whose statements see the
 * last commit and never wait. A third, in a thread of its own, moves the WAL into the database file, so that the syncs
 * of a checkpoint never block the event loop. No other server may open the file: the lock of the data folder sees to that.
 * A backup may, and reads beside it (snapshot-connection.ts).
 *
 * What must stay true: the WAL is synced (group-flush.ts) before a durable transaction resolves; the connections here never
 * checkpoint by themselves.
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { errorMessage } from '../../log.ts';
import { type Database, type Tables, TopicListeners } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { isDatabaseDamaged } from '../transient-errors.ts';
import { GroupCommit } from './group-commit.ts';
import { GroupFlush } from './group-flush.ts';
import { ReusedRows } from './reused-rows.ts';

const CHECKPOINT_INTERVAL_MS = 1000;
const CHECKPOINT_MIN_BYTES = 4 * 1024 * 1024;
/**
 * The WAL is made this long at the start, is started again from its beginning beyond it, and is never shorter. Written in
 * place, it is synced without a commit of the file system's journal, which would wait for every file and folder that
 * others make meanwhile, those of the runs above all.
 */
export const WAL_BYTES = 32 * 1024 * 1024;
/** Writers wait for the checkpoint under way when the WAL is longer: they can be faster than the disk for a while only. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;
const CACHED_STATEMENTS_MAX = 500;

/**
 * Kysely migrates SQLite without a transaction. SQLite can roll back a change of tables as well as any other, and must:
 * a process killed in the middle of a migration could never start again on what it left.
 */
class Dialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Opens or creates the database at the path. */
export function openSqlite(path: string): Database {
  const writeConnection = openSqliteConnection(path);
  const readConnection = openSqliteConnection(path);
  let damage = '';
  const note = (error: unknown): void => {
    if (isDatabaseDamaged(error)) damage ||= errorMessage(error);
  };
  const write = createSqliteKysely(writeConnection, note);
  const dataVersion = readConnection.prepare('pragma data_version');
  const reused = new ReusedRows(() => Number(dataVersion.get()?.data_version));
  const read = createSqliteKysely(readConnection, note, reused);
  const wal = openSync(`${path}-wal`, 'r+');
  lengthen(wal);
  const flush = new GroupFlush(wal);
  const topics = new TopicListeners();
  const checkpoints = startCheckpoints(path, wal);
  const commits = new GroupCommit({
    db: write,
    executeControl: controlOf(writeConnection),
    inTransaction: () => writeConnection.isTransaction,
    flush,
    onCommit: () => reused.clear(),
    waitForCheckpoint: () => checkpoints.keepUp(),
  });

  return {
    kind: 'sqlite',
    read,
    transact(work, options) {
      return commits.transact(work, options?.durable !== false);
    },
    notify: (topic) => queueMicrotask(() => topics.notify(topic)),
    listen: (topic, callback) => topics.listen(topic, callback),
    async ping() {
      // What is in memory may still be right; what was found does not pass.
      if (damage !== '') throw new Error(`a statement found it damaged (${damage}); restore a backup`);
      readConnection.exec('select 1');
    },
    async close() {
      await commits.whenIdle();
      await checkpoints.stop();
      await flush.flush();
      closeSync(wal);
      await read.destroy();
      await write.destroy();
      // Kysely leaves a connection open that it has never used.
      for (const one of [readConnection, writeConnection]) if (one.isOpen) one.close();
    },
  };
}

/** Appends zeros, which are no frames of a WAL, so that they are never taken for content. */
function lengthen(wal: number): void {
  const zeros = Buffer.alloc(1024 * 1024);
  for (let at = fstatSync(wal).size; at < WAL_BYTES; at += zeros.length) {
    writeSync(wal, zeros, 0, Math.min(zeros.length, WAL_BYTES - at), at);
  }
  fdatasyncSync(wal);
}

/** A connection that never checkpoints, to a database that is made when it is missing. */
export function openSqliteConnection(path: string): DatabaseSync {
  const connection = new DatabaseSync(path);
  connection.exec(`
    pragma journal_mode = wal;
    pragma synchronous = normal;
    pragma wal_autocheckpoint = 0;
    pragma journal_size_limit = ${WAL_BYTES};
    pragma busy_timeout = 10000;
    pragma foreign_keys = on;
    pragma temp_store = memory;
    pragma cache_size = -65536;
  `);
  // The first write makes the WAL file exist, which group-flush.ts needs to open.
  connection.exec('create table if not exists opened (at integer)');
  return connection;
}

/** Begins and ends transactions, by statements compiled once. */
function controlOf(connection: DatabaseSync): (statement: string) => void {
  const kept = new Map<string, StatementSync>();
  return (statement) => {
    const compiled = kept.get(statement) ?? connection.prepare(statement);
    kept.set(statement, compiled);
    compiled.run();
  };
}

/** Statements by Kysely on a connection, which it closes when it is destroyed after it was used. */
export function createSqliteKysely(
  connection: DatabaseSync,
  onError: (error: unknown) => void = () => {},
  reused: ReusedRows | null = null,
): Kysely<Tables> {
  const database = adapt(connection, onError);
  const db = new Kysely<Tables>({ dialect: new Dialect({ database }) });
  const execute = (sql: string, parameters: readonly unknown[]): unknown[] => {
    const { reader, all, run } = database.prepare(sql);
    if (reader) return all(parameters);
    run(parameters);
    return [];
  };
  executeDirectly(db, (sql, parameters, { isReusable }) =>
    isReusable && reused
      ? reused.get(sql, parameters, () => execute(sql, parameters))
      : execute(sql, parameters),
  );
  return db;
}

type Value = string | number | null | Uint8Array;

/** What Kysely expects of a SQLite library, over node:sqlite, keeping compiled statements. */
function adapt(connection: DatabaseSync, onError: (error: unknown) => void): SqliteDatabase {
  const noting = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      onError(error);
      throw error;
    }
  };
  const kept = new Map<string, { statement: StatementSync; reader: boolean }>();
  const prepare = (sql: string): { statement: StatementSync; reader: boolean } => {
    const found = kept.get(sql);
    if (found) return found;
    const statement = connection.prepare(sql);
    const made = { statement, reader: statement.columns().length > 0 };
    if (kept.size >= CACHED_STATEMENTS_MAX) kept.delete(kept.keys().next().value ?? '');
    kept.set(sql, made);
    return made;
  };
  return {
    close: () => connection.close(),
    prepare(sql): SqliteStatement {
      const { statement, reader } = noting(() => prepare(sql));
      return {
        reader,
        all: (parameters) => noting(() => statement.all(...(parameters as Value[]))),
        run: (parameters) => noting(() => statement.run(...(parameters as Value[]))),
        iterate: (parameters) => statement.iterate(...(parameters as Value[])),
      };
    },
  };
}

/** Runs checkpoints in a thread; see checkpoint-thread.ts. */
function startCheckpoints(
  path: string,
  wal: number,
): { keepUp(): Promise<void> | null; stop(): Promise<void> } {
  const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
    workerData: { path, restartBytes: WAL_BYTES },
  });
  worker.unref();
  let running: Promise<void> | null = null;
  const run = (): Promise<void> => {
    running ??= new Promise<void>((resolve) => {
      worker.postMessage('checkpoint');
      worker.once('message', () => {
        running = null;
        resolve();
      });
    });
    return running;
  };
  const timer = setInterval(() => {
    if (fstatSync(wal).size >= CHECKPOINT_MIN_BYTES) void run();
  }, CHECKPOINT_INTERVAL_MS);
  timer.unref();
  return {
    keepUp: () => (fstatSync(wal).size > WAL_BYTES_MAX ? run() : null),
    async stop() {
      clearInterval(timer);
      await worker.terminate();
    },
  };
}
