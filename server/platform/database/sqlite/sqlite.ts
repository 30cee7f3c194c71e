/**
 * SQLite in the data folder, through node:sqlite.
 *
 * The process has two connections: `write`, which one transaction uses at a time, and `read`, whose statements see the last
 * commit and never wait. A third connection, in a thread of its own, moves the WAL into the database file, so that the syncs
 * of a checkpoint never block the event loop. The lock of the data folder keeps other servers out. A backup may read the
 * file at the same time (snapshot-connection.ts).
 *
 * Invariants: the WAL is synced (group-commit.ts) before a durable transaction resolves. The two connections never checkpoint.
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { type Clock, systemClock } from '../../clock.ts';
import { errorMessage } from '../../log.ts';
import { type Database, type Tables, TopicListeners } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { publishStatements } from '../statement-channel.ts';
import { isDatabaseDamaged } from '../transient-errors.ts';
import { AcknowledgedPosition } from './acknowledged-position.ts';
import { type Checkpointer, CheckpointThread, startCheckpoints, WAL_BYTES } from './checkpoints.ts';
import { GroupCommit, GroupFlush, type Sync } from './group-commit.ts';
import { ReusedRows } from './reused-rows.ts';

const CACHED_STATEMENTS_MAX = 500;

/**
 * Makes Kysely run migrations of SQLite in a transaction, which it does not do by default. Without one, a process killed
 * during a migration could never start again on the half-changed tables.
 */
class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** What a database needs of its machine. The simulation passes its own. */
export interface SqliteMachine {
  clock: Clock;
  /** `fdatasync` by default. */
  sync?: Sync;
  /** Opens the two connections of the process. */
  connect(path: string): DatabaseSync;
  startCheckpointer(path: string): Checkpointer;
}

const MACHINE: SqliteMachine = {
  clock: systemClock,
  connect: openSqliteConnection,
  startCheckpointer: (path) => CheckpointThread.open(path),
};

/** Opens the database at the path and creates it when it is missing. */
export function openSqlite(path: string, machine: SqliteMachine = MACHINE): Database {
  const writeConnection = machine.connect(path);
  const readConnection = machine.connect(path);
  let damage = '';
  const recordDamage = (error: unknown): void => {
    if (isDatabaseDamaged(error)) damage ||= errorMessage(error);
  };
  const write = createSqliteKysely(writeConnection, recordDamage);
  const dataVersion = readConnection.prepare('pragma data_version');
  const reused = new ReusedRows(() => Number(dataVersion.get()?.data_version));
  const read = createSqliteKysely(readConnection, recordDamage, reused);
  const wal = openSync(`${path}-wal`, 'r+');
  growWal(wal);
  const position = new AcknowledgedPosition(path, wal, readConnection);
  const flush = new GroupFlush({
    fd: wal,
    prepare: () => position.prepare(),
    rewriteUnsynced: () => position.rewriteUnsynced(),
    ...(machine.sync ? { sync: machine.sync } : {}),
  });
  const topics = new TopicListeners();
  const checkpoints = startCheckpoints({
    ...{ wal, connection: readConnection, clock: machine.clock },
    checkpointer: machine.startCheckpointer(path),
  });
  const commits = new GroupCommit({
    db: write,
    executeControl: compileControl(writeConnection),
    inTransaction: () => writeConnection.isTransaction,
    flush,
    onCommit: () => reused.clear(),
    waitForCheckpoint: () => checkpoints.keepUp(),
  });

  return {
    kind: 'sqlite',
    read,
    // SQLite has no statistics here, and follows the order of the statement.
    readInOrder: read,
    transact(work, options) {
      return commits.transact(work, options?.durable !== false);
    },
    whenDurable: () => flush.flush(),
    notify: (topic) => queueMicrotask(() => topics.notify(topic)),
    listen: (topic, callback) => topics.listen(topic, callback),
    async ping() {
      // Damage is permanent, although rows in SQLite's cache may still be correct.
      if (damage !== '')
        throw new Error(`a statement found it damaged (${damage}); \`npm run verify\` lists what is missing`);
      readConnection.exec('select 1');
    },
    async close() {
      await commits.whenIdle();
      await checkpoints.stop();
      await flush.flush();
      closeSync(wal);
      position.remove();
      await read.destroy();
      await write.destroy();
      // Kysely does not close a connection that it never used.
      for (const one of [readConnection, writeConnection]) if (one.isOpen) one.close();
    },
  };
}

/** Appends zeros to the WAL up to its minimum length. Zeros are not valid frames, so SQLite ignores them. */
function growWal(wal: number): void {
  const zeros = Buffer.alloc(1024 * 1024);
  for (let at = fstatSync(wal).size; at < WAL_BYTES; at += zeros.length) {
    writeSync(wal, zeros, 0, Math.min(zeros.length, WAL_BYTES - at), at);
  }
  fdatasyncSync(wal);
}

/** Opens a connection that never checkpoints. Creates the database when it is missing. */
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
  // The first write creates the WAL file, which `openSqlite` opens for the sync.
  connection.exec('create table if not exists opened (at integer)');
  return connection;
}

/** Returns a function that executes statements such as `commit`, each compiled once. */
function compileControl(connection: DatabaseSync): (statement: string) => void {
  const compiled = new Map<string, StatementSync>();
  return (sql) => {
    const statement = compiled.get(sql) ?? connection.prepare(sql);
    compiled.set(sql, statement);
    statement.run();
  };
}

/**
 * Returns a Kysely on the connection. Its `destroy` closes the connection if Kysely has used it. `onError` receives each error
 * of a statement before the caller; `reused` caches the rows of reusable statements.
 */
export function createSqliteKysely(
  connection: DatabaseSync,
  onError: (error: unknown) => void = () => {},
  reused: ReusedRows | null = null,
): Kysely<Tables> {
  const database = adapt(connection, onError);
  const db = new Kysely<Tables>({ dialect: new TransactionalDialect({ database }), ...publishStatements() });
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

/**
 * Returns the rows of the statement. node:sqlite throws for an integer that a double does not hold, and one such value would make
 * every list with its row unreadable. It becomes the nearest double, as on PostgreSQL.
 */
function readRows(statement: StatementSync, parameters: SQLInputValue[]): unknown[] {
  try {
    return statement.all(...parameters);
  } catch (error) {
    if (!isOutOfRange(error)) throw error;
    statement.setReadBigInts(true);
    try {
      return statement.all(...parameters).map(roundIntegers);
    } finally {
      statement.setReadBigInts(false);
    }
  }
}

const isOutOfRange = (error: unknown): boolean =>
  error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

const roundIntegers = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
  );

/** Adapts node:sqlite to the interface that Kysely expects, with a cache of compiled statements. */
function adapt(connection: DatabaseSync, onError: (error: unknown) => void): SqliteDatabase {
  const reporting = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      onError(error);
      throw error;
    }
  };
  // Kysely passes on the values of statements, whose types are those of the tables.
  const toValues = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
  const cached = new Map<string, { statement: StatementSync; reader: boolean }>();
  const prepare = (sql: string): { statement: StatementSync; reader: boolean } => {
    const found = cached.get(sql);
    if (found) return found;
    const statement = connection.prepare(sql);
    const compiled = { statement, reader: statement.columns().length > 0 };
    if (cached.size >= CACHED_STATEMENTS_MAX) cached.delete(cached.keys().next().value ?? '');
    cached.set(sql, compiled);
    return compiled;
  };
  return {
    close: () => connection.close(),
    prepare(sql): SqliteStatement {
      const { statement, reader } = reporting(() => prepare(sql));
      return {
        reader,
        all: (parameters) => reporting(() => readRows(statement, toValues(parameters))),
        run: (parameters) => reporting(() => statement.run(...toValues(parameters))),
        iterate: (parameters) => statement.iterate(...toValues(parameters)),
      };
    },
  };
}
