/**
 * PostgreSQL, through pg. A pool for statements and one connection of its own for LISTEN, which is made again when it
 * breaks; news missed meanwhile is made up for by the periodic runs of the reconcilers.
 */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Log, messageOf } from '../log.ts';
import { type Database, type Tables, Topics } from './database.ts';

const CHANNEL = 'switchyard';
const INT8 = 20;
const LISTEN_AGAIN_MS = 1000;

/** Connects to the database at the address. Instants and sizes are int8 and fit a double; they are read as numbers. */
export async function openPostgres(address: string, log: Log): Promise<Database> {
  const types = {
    getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
  };
  const pool = new pg.Pool({ connectionString: address, max: 16, types, application_name: 'switchyard' });
  pool.on('error', (error) => log.warn({ error: error.message }, 'An idle connection to PostgreSQL broke.'));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const topics = new Topics();
  const listener = await startListener(address, log, (topic) => topics.tell(topic));

  return {
    kind: 'postgres',
    read: db,
    transact: (work) => db.transaction().execute(work),
    notify(topic) {
      pool.query('select pg_notify($1, $2)', [CHANNEL, topic]).catch((error: unknown) => {
        log.warn({ topic, error: messageOf(error) }, 'News could not be told to other processes.');
        topics.tell(topic);
      });
    },
    listen: (topic, callback) => topics.listen(topic, callback),
    async ping() {
      await pool.query('select 1');
    },
    async close() {
      await listener.stop();
      await db.destroy();
    },
  };
}

async function startListener(address: string, log: Log, tell: (topic: string) => void) {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const made = new pg.Client({ connectionString: address, application_name: 'switchyard listen' });
    made.on('notification', (message) => message.payload && tell(message.payload));
    made.on('error', (error) =>
      log.warn({ error: error.message }, 'The listening connection to PostgreSQL broke.'),
    );
    made.on('end', () => {
      if (stopped) return;
      timer = setTimeout(() => connect().catch(again), LISTEN_AGAIN_MS);
      timer.unref();
    });
    client = made;
    await made.connect();
    await made.query(`listen ${CHANNEL}`);
  };
  const again = (error: unknown): void => {
    log.warn({ error: messageOf(error) }, 'PostgreSQL cannot be listened to; trying again.');
    if (stopped) return;
    timer = setTimeout(() => connect().catch(again), LISTEN_AGAIN_MS);
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
