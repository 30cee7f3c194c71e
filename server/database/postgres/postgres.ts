/**
 * PostgreSQL, through pg. A pool for statements and one connection of its own for LISTEN, which is made again when it
 * breaks; background jobs run at an interval, which makes up for the notifications missed meanwhile.
 */
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { errorMessage, type Log } from '../../log.ts';
import { type Database, type Tables, TOPICS, type Topic, TopicListeners, type Writer } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { MergedStatements, MultiRowInserts } from './merged-statements.ts';
import { isOutdatedPlan, withNamedStatements } from './named-statements.ts';
import { TransactionGroups } from './transaction-groups.ts';

const CHANNEL = 'switchyard';
const INT8 = 20;
const RECONNECT_DELAY_MS = 1000;
/** Serialization failure and deadlock: rolled back for the sake of another transaction, and worth another try. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
const ATTEMPTS_MAX = 5;

/** Instants and sizes are int8 and fit a double; they are read as numbers. */
export const typeParsers = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** Connects to the database at the address. */
export async function openPostgres(address: string, log: Log): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: address,
    max: 16,
    types: typeParsers,
    application_name: 'switchyard',
  });
  // A connection in use that breaks between two statements has nobody else who listens, and an error that nobody
  // listens to ends the process. The next statement on it fails, which rolls its transaction back.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.warn({ error: error.message }, 'A connection to PostgreSQL broke.')),
  );
  pool.on('error', (error) => log.warn({ error: error.message }, 'An idle connection to PostgreSQL broke.'));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withNamedStatements(pool) }) });
  const inserts = new MultiRowInserts();
  const reads = new MergedStatements(
    inserts,
    async (sql, parameters) => (await db.executeQuery(CompiledQuery.raw(sql, [...parameters]))).rows,
  );
  executeDirectly(db, (sql, parameters) => reads.execute(sql, parameters));
  const transactAlone = <T>(work: (tx: Writer) => Promise<T>): Promise<T> => transactWithRetries(db, work);
  const groups = new TransactionGroups({ db, inserts, transactAlone, isRetryable });
  const topics = new TopicListeners();
  const listener = await startListener(address, log, (topic) => topics.notify(topic));

  const tellOthers = startTelling(async (topic) => {
    try {
      await pool.query('select pg_notify($1, $2)', [CHANNEL, topic]);
    } catch (error) {
      log.warn({ topic, error: errorMessage(error) }, 'News could not be told to other processes.');
      topics.notify(topic);
    }
  });

  return {
    kind: 'postgres',
    read: db,
    transact: (work, options) => (options?.insertOnly ? groups.transact(work) : transactAlone(work)),
    notify: tellOthers,
    listen: (topic, callback) => topics.listen(topic, callback),
    async ping() {
      await pool.query('select 1');
    },
    async close() {
      await listener.stop();
      await db.destroy();
      // Kysely leaves a pool open that it has never used.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Whether the transaction was rolled back for the sake of another, or for a statement whose plan was out of date. */
function isRetryable(error: unknown): boolean {
  return RETRYABLE_STATES.has((error as { code?: string }).code ?? '') || isOutdatedPlan(error);
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

/** A connection that listens; when it breaks another is made, and everybody is told to look, for news may have been missed. */
async function startListener(address: string, log: Log, tell: (topic: string) => void) {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const made = new pg.Client({ connectionString: address, application_name: 'switchyard listen' });
    let listening = false;
    made.on('notification', (message) => message.payload && tell(message.payload));
    made.on('error', (error) =>
      log.warn({ error: error.message }, 'The listening connection to PostgreSQL broke.'),
    );
    // Also emitted for a connection that never came to be, which the caller of connect knows already.
    made.once('end', () => listening && connectLater());
    try {
      await made.connect();
      await made.query(`listen ${CHANNEL}`);
    } catch (error) {
      await made.end().catch(() => {});
      throw error;
    }
    if (stopped) return made.end();
    client = made;
    listening = true;
  };
  const connectLater = (): void => {
    client = undefined;
    if (stopped) return;
    timer = setTimeout(() => {
      connect().then(
        () => {
          for (const topic of TOPICS) tell(topic);
        },
        (error: unknown) => {
          log.warn({ error: errorMessage(error) }, 'PostgreSQL cannot be listened to; trying again.');
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

/** Tells at most one piece of news of a topic at a time; what comes meanwhile is told once more after it. */
function startTelling(send: (topic: Topic) => Promise<void>): (topic: Topic) => void {
  const underWay = new Map<Topic, { again: boolean }>();
  return function tell(topic) {
    const before = underWay.get(topic);
    if (before) {
      before.again = true;
      return;
    }
    const state = { again: false };
    underWay.set(topic, state);
    void send(topic).finally(() => {
      underWay.delete(topic);
      if (state.again) tell(topic);
    });
  };
}
