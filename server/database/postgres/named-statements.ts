/**
 * Lets PostgreSQL parse and plan the statements of prepared-statements.ts once for each connection, which is most of what a row by
 * its key costs there: reading the metadata of a run took 1.8 ms of PostgreSQL's processor time and takes 0.4 ms, creating
 * one 2.9 ms and 2.0 ms. All others are planned with their values each time, because the best plan of a list depends on them.
 *
 * What must stay true: a table may be changed by a newer release that is started beside this one. A statement that gives
 * `*` is refused then, with a plan that is out of date. It gets another name, and is asked again; in a transaction, whose
 * statements before it are lost, by whoever began it.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { preparedSql } from '../prepared-statements.ts';

/** The name of each text, which is another after its plan was refused. */
const names = new Map<string, { number: number; generation: number }>();

function nameOf(text: string): string {
  const found = names.get(text) ?? { number: names.size, generation: 0 };
  names.set(text, found);
  return `prepared_${found.number}_${found.generation}`;
}

/** Whether the error says that a plan no longer fits its table; then the statement has another name already. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}

/** The pool as Kysely takes one, with names for what is prepared. */
export function withNamedStatements(pool: pg.Pool): PostgresPool {
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const found = wrapped.get(client) ?? wrap(client);
      wrapped.set(client, found);
      return found;
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

function wrap(client: pg.PoolClient): PostgresPoolClient {
  let inTransaction = false;
  const query = async (text: string, values: readonly unknown[]): Promise<pg.QueryResult> => {
    if (text === 'begin' || text.startsWith('start transaction')) inTransaction = true;
    else if (text === 'commit' || text === 'rollback') inTransaction = false;
    if (!preparedSql.has(text)) return client.query(text, [...values]);
    const name = nameOf(text);
    try {
      return await client.query({ name, text, values: [...values] });
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      const known = names.get(text);
      if (known && name === nameOf(text)) known.generation += 1;
      if (inTransaction) throw error;
      return await query(text, values);
    }
  };
  // Nothing here reads by a cursor, which is the other thing that Kysely may ask for.
  const asked = query as unknown as PostgresPoolClient['query'];
  return { query: asked, release: (destroy) => client.release(destroy) };
}
