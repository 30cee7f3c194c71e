/**
 * PostgreSQL through pg: a pool for statements, and one connection for LISTEN, which reconnects when it breaks. Background
 * jobs also run at an interval, so that a missed notification only delays them.
 */
import { CompiledQuery, Kysely } from 'kysely';
import pg from 'pg';
import { errorMessage, type Log } from '../../log.ts';
import { type Database, type Tables, TOPICS, type Topic, TopicListeners, type Writer } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { publishStatements } from '../statement-channel.ts';
import { readErrorCodes } from '../transient-errors.ts';
import { MergedStatements, MultiRowInserts } from './merged-statements.ts';
import {
  isOutdatedPlan,
  NamedStatementsDialect,
  StatementNames,
  withNamedStatements,
} from './named-statements.ts';
import { TransactionGroups } from './transaction-groups.ts';

const CHANNEL = 'switchyard';
/** Name of the connection that listens. A server or worker appends the number of migrations that it knows. */
export const LISTENER_NAME = 'switchyard listen';
const RECONNECT_DELAY_MS = 1000;
/** Serialization failure and deadlock: PostgreSQL rolled this transaction back in favour of another; a retry may succeed. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS_MAX = 5;
const CONNECTIONS_MAX = 16;
/** A list has a few short statements, so that few connections serve many. */
const ORDERED_CONNECTIONS_MAX = 4;
/** Leaves the planner the indexes whose order is that of the statement. It sorts only where there is none. */
const READ_IN_ORDER = `set enable_sort = off; set enable_bitmapscan = off; set enable_seqscan = off;
  set enable_hashjoin = off; set enable_mergejoin = off; set enable_material = off; set jit = off;
  set plan_cache_mode = force_generic_plan`;

/** Returns pg's parsers with int8 as a number: instants and sizes fit a double. */
export function createTypeOverrides(): pg.TypeOverrides {
  const overrides = new pg.TypeOverrides();
  overrides.setTypeParser(pg.types.builtins.INT8, Number);
  return overrides;
}

/**
 * Connects to the database at the `postgres://` address. Throws when it is unreachable. A server or worker passes the number of
 * migrations that it knows, by which a later release finds it (maintenance/connected-servers.ts).
 */
export async function openPostgres(address: string, log: Log, migrationCount?: number): Promise<Database> {
  const pool = createPool(address, log, { max: CONNECTIONS_MAX });
  const names = new StatementNames();
  const db = new Kysely<Tables>({
    dialect: new NamedStatementsDialect(withNamedStatements(pool, names), names),
    ...publishStatements(),
  });
  const ordered = openOrderedReader(address, log);
  const inserts = new MultiRowInserts(names.add);
  const reads = new MergedStatements(
    inserts,
    async (sql, parameters) => (await db.executeQuery(CompiledQuery.raw(sql, [...parameters]))).rows,
  );
  executeDirectly(db, (sql, parameters) => reads.execute(sql, parameters));
  const transactAlone = <T>(work: (tx: Writer) => Promise<T>): Promise<T> => transactWithRetries(db, work);
  const groups = new TransactionGroups({ db, inserts, transactAlone, isRetryable });
  const topics = new TopicListeners();
  const listener = await startListener(
    {
      connectionString: address,
      application_name: migrationCount === undefined ? LISTENER_NAME : `${LISTENER_NAME} ${migrationCount}`,
    },
    log,
    (topic) => topics.notify(topic),
  );

  const notifyProcesses = coalesceNotifications(async (topic) => {
    try {
      await pool.query('select pg_notify($1, $2)', [CHANNEL, topic]);
    } catch (error) {
      log.warn(
        { topic, error: errorMessage(error) },
        'NOTIFY failed; other processes read the tables again at their next interval',
      );
      topics.notify(topic);
    }
  });

  return {
    kind: 'postgres',
    read: db,
    readInOrder: ordered.reader,
    transact: (work, options) => (options?.insertOnly ? groups.transact(work) : transactAlone(work)),
    // A commit is on the disk before any other transaction sees it.
    whenDurable: async () => {},
    notify: notifyProcesses,
    listen: (topic, callback) => topics.listen(topic, callback),
    async ping() {
      await pool.query('select 1');
    },
    async close() {
      await listener.stop();
      for (const one of [db, ordered.reader]) await one.destroy();
      // Kysely does not close a pool that it never used.
      for (const one of [pool, ordered.pool]) if (!one.ending) await one.end();
    },
  };
}

/** Opens connections that walk indexes in their order; their prepared statements go around Kysely. */
function openOrderedReader(address: string, log: Log): { reader: Kysely<Tables>; pool: pg.Pool } {
  const pool = createPool(address, log, {
    max: ORDERED_CONNECTIONS_MAX,
    onConnect: async (client) => {
      await client.query(READ_IN_ORDER);
    },
  });
  const names = new StatementNames();
  const connections = withNamedStatements(pool, names);
  const reader = new Kysely<Tables>({
    dialect: new NamedStatementsDialect(connections, names),
    ...publishStatements(),
  });
  executeDirectly(reader, async (sql, parameters) => {
    const connection = await connections.connect();
    try {
      return (await connection.query<unknown>(sql, parameters)).rows;
    } finally {
      connection.release();
    }
  });
  return { reader, pool };
}

function createPool(address: string, log: Log, settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: address,
    types: createTypeOverrides(),
    application_name: 'switchyard',
    ...settings,
  });
  // An error event without a listener ends the process, and pg has none for a connection in use between two statements.
  // The next statement on it fails, which rolls the transaction back.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.warn({ error: error.message }, 'PostgreSQL connection broke')),
  );
  pool.on('error', (error) => log.warn({ error: error.message }, 'Idle PostgreSQL connection broke'));
  return pool;
}

/** Reports whether PostgreSQL rolled the transaction back in favour of another, or because a plan was outdated. */
function isRetryable(error: unknown): boolean {
  return RETRYABLE_STATES.has(readErrorCodes(error).code) || isOutdatedPlan(error);
}

async function transactWithRetries<T>(db: Kysely<Tables>, work: (tx: Writer) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (tries === ATTEMPTS_MAX || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Listens on a connection of its own. When the connection breaks, it connects again and then notifies every topic, because
 * the server may have missed notifications.
 */
async function startListener(settings: pg.ClientConfig, log: Log, onNotification: (topic: string) => void) {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const connection = new pg.Client(settings);
    let listening = false;
    connection.on('notification', ({ payload }) => payload && onNotification(payload));
    connection.on('error', (error) => log.warn({ error: error.message }, 'LISTEN connection broke'));
    // pg also emits `end` when connecting fails, which `connect` throws.
    connection.once('end', () => listening && connectLater());
    try {
      await connection.connect();
      await connection.query(`listen ${CHANNEL}`);
    } catch (error) {
      await connection.end().catch(() => {});
      throw error;
    }
    if (stopped) return connection.end();
    client = connection;
    listening = true;
  };
  const connectLater = (): void => {
    client = undefined;
    if (stopped) return;
    timer = setTimeout(() => {
      connect().then(
        () => {
          for (const topic of TOPICS) onNotification(topic);
        },
        (error: unknown) => {
          log.warn({ error: errorMessage(error) }, 'LISTEN connection failed; connecting again');
          connectLater();
        },
      );
    }, RECONNECT_DELAY_MS);
    timer.unref();
  };

  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}

/** Sends one notification of a topic at a time. Calls during a `send` cause one more `send` after it. */
function coalesceNotifications(send: (topic: Topic) => Promise<void>): (topic: Topic) => void {
  const underWay = new Map<Topic, { again: boolean }>();
  return function notify(topic) {
    const current = underWay.get(topic);
    if (current) {
      current.again = true;
      return;
    }
    const state = { again: false };
    underWay.set(topic, state);
    void send(topic).finally(() => {
      underWay.delete(topic);
      if (state.again) notify(topic);
    });
  };
}
