/**
 * Opens the database of a running server from another process, to read all of it as of one instant and for small writes.
 * The server never waits longer for it than for one of its own transactions.
 *
 * A snapshot is one read transaction. While it is open, SQLite keeps all later writes in the WAL, and PostgreSQL keeps
 * replaced rows. Read it without a pause, and close it.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, sql, type TableMetadata } from 'kysely';
import pg from 'pg';
import type { Database, Reader, Tables, Writer } from '../database.ts';
import { type Migration, migrate } from '../migrate.ts';
import { createTypeOverrides } from '../postgres/postgres.ts';
import { createSqliteKysely, openSqliteConnection } from '../sqlite/sqlite.ts';

const ROW_BATCH_SIZE = 200;
/** A busy server leaves the write lock free only for moments between its commits, so another writer may wait long. */
const BUSY_TIMEOUT_MS = 60_000;

export type Row = Record<string, unknown>;

export interface Snapshot {
  /**
   * Yields the rows of a `select` without parameters, in batches. Read one `select` to its end before the next. An integer that
   * a double does not hold is a bigint, so that a copy has the same value.
   */
  readRows(select: string): AsyncGenerator<Row[]>;
  close(): Promise<void>;
}

export interface SnapshotConnection {
  readonly kind: Database['kind'];
  /** Reads outside the snapshot: each statement sees the last commit. */
  readonly read: Reader;
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Opens the SQLite database at the path. Throws when the file does not exist. */
export function openSqliteSnapshot(path: string): SnapshotConnection {
  if (!existsSync(path))
    throw new Error(`There is no database at ${path}. Set SWITCHYARD_DATA to the data folder of the server.`);
  const connection = openSqliteConnection(path);
  connection.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const db = createSqliteKysely(connection);
  return {
    kind: 'sqlite',
    read: db,
    write: (work) => db.transaction().execute(work),
    snapshot: async () => beginSnapshot(openSqliteConnection(path)),
    async close() {
      await db.destroy();
      if (connection.isOpen) connection.close();
    },
  };
}

/** Begins a read transaction on a connection that has no other use; `close` closes the connection too. */
export function beginSnapshot(reader: DatabaseSync): Snapshot {
  reader.exec('begin');
  // The snapshot begins with the first statement.
  reader.prepare('select count(*) from migrations').get();
  return {
    async *readRows(select) {
      let batch: Row[] = [];
      const statement = reader.prepare(select);
      // Without it, node:sqlite throws at an integer that a double does not hold.
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) {
        for (const column in row)
          if (typeof row[column] === 'bigint') row[column] = toExactNumber(row[column]);
        if (batch.push(row) < ROW_BATCH_SIZE) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => reader.close(),
  };
}

/** Returns the integer as a number, or as it is when a double does not hold it. */
function toExactNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Connects to the PostgreSQL database at the address. */
export async function openPostgresSnapshot(address: string): Promise<SnapshotConnection> {
  const settings = {
    connectionString: address,
    types: createTypeOverrides(),
    application_name: 'switchyard backup',
  };
  const pool = new pg.Pool({ ...settings, max: 1 });
  // An error event without a listener ends the process. The next statement throws the error.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kind: 'postgres',
    read: db,
    write: (work) => db.transaction().execute(work),
    async snapshot() {
      const types = createTypeOverrides();
      types.setTypeParser(pg.types.builtins.INT8, (text) => toExactNumber(BigInt(text)));
      const client = new pg.Client({ ...settings, types });
      client.on('error', () => {});
      await client.connect();
      await client.query('begin isolation level repeatable read read only');
      await client.query('select count(*) from migrations');
      return {
        async *readRows(select) {
          await client.query(`declare snapshot_rows no scroll cursor for ${select}`);
          for (;;) {
            const { rows } = await client.query<Row>(`fetch ${ROW_BATCH_SIZE} from snapshot_rows`);
            if (rows.length > 0) yield rows;
            if (rows.length < ROW_BATCH_SIZE) break;
          }
          await client.query('close snapshot_rows');
        },
        close: () => client.end(),
      };
    },
    async close() {
      await db.destroy();
      if (!pool.ending) await pool.end();
    },
  };
}

/**
 * Opens a database for reading alone, by a `postgres://` address or the path of a SQLite file. Throws when the file does not
 * exist. It is safe while no server runs and while one starts: a read-only connection does not touch the WAL when it closes.
 */
export async function openReadOnly(
  place: string,
): Promise<Pick<SnapshotConnection, 'kind' | 'read' | 'snapshot' | 'close'>> {
  if (/^postgres(ql)?:\/\//.test(place)) return openPostgresSnapshot(place);
  if (!existsSync(place))
    throw new Error(
      `There is no database at ${place}. Set SWITCHYARD_DATA to the data folder of the server.`,
    );
  const open = () => new DatabaseSync(place, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  const connection = open();
  const read = createSqliteKysely(connection);
  return {
    kind: 'sqlite',
    read,
    snapshot: async () => beginSnapshot(open()),
    async close() {
      await read.destroy();
      if (connection.isOpen) connection.close();
    },
  };
}

/** Returns the tables of the server, without the database's own. */
export async function listTables(database: Pick<Database, 'kind' | 'read'>): Promise<TableMetadata[]> {
  const { read } = database;
  const tables = await read.introspection.getTables({ withInternalKyselyTables: true });
  if (database.kind === 'sqlite') return tables.filter(({ name }) => !name.startsWith('sqlite_'));
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(read);
  return tables.filter(({ schema, isView }) => schema === rows[0]?.name && !isView);
}

/** Returns the names of the applied migrations in their order; none for an empty database. */
export async function appliedMigrations(database: Pick<Database, 'kind' | 'read'>): Promise<string[]> {
  const tables = await listTables(database);
  if (!tables.some(({ name }) => name === 'migrations')) return [];
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(
    database.read,
  );
  return rows.map(({ name }) => name).sort();
}

/** Returns the tables that the migrations create, from a SQLite database in memory. */
export async function listMigratedTables(migrations: readonly Migration[]): Promise<TableMetadata[]> {
  const connection = new DatabaseSync(':memory:');
  const read = createSqliteKysely(connection);
  try {
    await migrate({ kind: 'sqlite', read }, migrations);
    return await listTables({ kind: 'sqlite', read });
  } finally {
    await read.destroy();
  }
}

/** Returns the last value of the sequence of a column; 0 before the first. */
export async function readLastSequenceValue(
  database: Pick<Database, 'kind' | 'read'>,
  table: string,
  column: string,
): Promise<number> {
  const query =
    database.kind === 'sqlite'
      ? sql<{ last: number }>`select seq as last from sqlite_sequence where name = ${table}`
      : sql<{ last: number }>`select pg_sequence_last_value(${sequence(table, column)}) as last`;
  const { rows } = await query.execute(database.read);
  return Number(rows[0]?.last ?? 0);
}

/** Makes the sequence of a column continue after `last`. */
export async function setLastSequenceValue(
  kind: Database['kind'],
  tx: Writer,
  { table, column, last }: { table: string; column: string; last: number },
): Promise<void> {
  if (last === 0) return;
  if (kind === 'postgres') {
    await sql`select setval(${sequence(table, column)}, ${last}::bigint)`.execute(tx);
    return;
  }
  await sql`delete from sqlite_sequence where name = ${table}`.execute(tx);
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(tx);
}

function sequence(table: string, column: string) {
  return sql`pg_get_serial_sequence(${`"${table}"`}, ${column})::regclass`;
}
