/**
 * A database that a server is working on, opened beside it by another process: to read all of it as it was at one
 * instant, and for small writes. Nothing here makes the server wait for longer than one of its own transactions takes.
 *
 * A snapshot is one read transaction. SQLite keeps everything written since in the WAL for as long as it is open, and
 * PostgreSQL keeps the rows that were replaced, so whoever opens one reads on and closes it.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, sql, type TableMetadata } from 'kysely';
import pg from 'pg';
import type { Database, Reader, Tables, Writer } from '../database.ts';
import { type Migration, migrate } from '../migrate.ts';
import { typeParsers } from '../postgres/postgres.ts';
import { createSqliteKysely, openSqliteConnection } from '../sqlite/sqlite.ts';

const ROW_BATCH_SIZE = 200;
/** Between the groups of a busy server there is room for another writer, but seldom. */
const BUSY_TIMEOUT_MS = 60_000;

export type Row = Record<string, unknown>;

export interface Snapshot {
  /** The rows that a `select` without parameters gives, some at a time. One is read at a time. */
  readRows(select: string): AsyncGenerator<Row[]>;
  close(): Promise<void>;
}

export interface SnapshotConnection {
  readonly kind: Database['kind'];
  /** Sees the last commit. */
  readonly read: Reader;
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Opens the SQLite database at the path, which must be there. */
export function openSqliteSnapshot(path: string): SnapshotConnection {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
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

/** A read transaction on a connection that is used for nothing else and closed with it. */
export function beginSnapshot(reader: DatabaseSync): Snapshot {
  reader.exec('begin');
  // The instant is that of the first statement.
  reader.prepare('select count(*) from migrations').get();
  return {
    async *readRows(select) {
      let some: Row[] = [];
      for (const row of reader.prepare(select).iterate()) {
        if (some.push(row) < ROW_BATCH_SIZE) continue;
        yield some;
        some = [];
      }
      if (some.length > 0) yield some;
    },
    close: async () => reader.close(),
  };
}

/** Connects to the PostgreSQL database at the address. */
export async function openPostgresSnapshot(address: string): Promise<SnapshotConnection> {
  const settings = { connectionString: address, types: typeParsers, application_name: 'switchyard backup' };
  const pool = new pg.Pool({ ...settings, max: 1 });
  // An error that nobody listens to ends the process; the next statement tells it to who asks.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kind: 'postgres',
    read: db,
    write: (work) => db.transaction().execute(work),
    async snapshot() {
      const client = new pg.Client(settings);
      client.on('error', () => {});
      await client.connect();
      await client.query('begin isolation level repeatable read read only');
      await client.query('select count(*) from migrations');
      return {
        async *readRows(select) {
          await client.query(`declare piece no scroll cursor for ${select}`);
          for (;;) {
            const { rows } = await client.query<Row>(`fetch ${ROW_BATCH_SIZE} from piece`);
            if (rows.length > 0) yield rows;
            if (rows.length < ROW_BATCH_SIZE) break;
          }
          await client.query('close piece');
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
 * For somebody who only looks, at a `postgres://` address or the path of a file. Unlike the others it may be opened while no
 * server runs and one starts: a connection that cannot write leaves the WAL alone when it is closed.
 */
export async function openReadOnly(
  place: string,
): Promise<Pick<SnapshotConnection, 'kind' | 'read' | 'snapshot' | 'close'>> {
  if (/^postgres(ql)?:\/\//.test(place)) return openPostgresSnapshot(place);
  if (!existsSync(place))
    throw new Error(
      `There is no database at ${place}; set SWITCHYARD_DATA to the data folder of the server.`,
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

/** The tables in the database, by name, without those of the database itself. */
export async function listTables(database: Pick<Database, 'kind' | 'read'>): Promise<TableMetadata[]> {
  const { read } = database;
  const tables = await read.introspection.getTables({ withInternalKyselyTables: true });
  if (database.kind === 'sqlite') return tables.filter(({ name }) => !name.startsWith('sqlite_'));
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(read);
  return tables.filter(({ schema, isView }) => schema === rows[0]?.name && !isView);
}

/** The names of the migrations that have made the tables, in their order; none when there are no tables. */
export async function appliedMigrations(database: Pick<Database, 'kind' | 'read'>): Promise<string[]> {
  const tables = await listTables(database);
  if (!tables.some(({ name }) => name === 'migrations')) return [];
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(
    database.read,
  );
  return rows.map(({ name }) => name).sort();
}

/** The tables that the migrations make. */
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

/** The number that a table's own numbering gave last; 0 before the first. */
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

/** Makes the table's own numbering go on after the number. */
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
