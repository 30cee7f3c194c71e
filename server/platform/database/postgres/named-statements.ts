/**
 * Lets PostgreSQL parse and plan a prepared statement (prepared-statements.ts) once for each connection, which is most of
 * the cost of reading a row by its key. Reading the metadata of a run took 1.8 ms of PostgreSQL's processor time and takes
 * 0.4 ms, creating a run 2.9 ms and 2.0 ms. All other statements are planned with their values each time, because the best
 * plan of a list depends on the values.
 *
 * Invariant: a newer release, started next to this one, may change a table. PostgreSQL then refuses a statement that
 * selects `*`, because its plan is outdated. The statement gets another name and is executed again. In a transaction, which
 * has lost its earlier statements, the whole transaction starts again.
 */
import {
  PostgresAdapter,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import type pg from 'pg';
import type { PreparedSqlRegistry } from '../prepared-statements.ts';

/** Reports whether a plan no longer fits its table; the statement then already has another name. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}

/** The names under which the connections of one pool plan prepared statements. */
export class StatementNames {
  /** By text. The generation counts the refused plans. */
  readonly #names = new Map<string, { number: number; generation: number }>();

  /** Adds the text of a prepared statement. */
  readonly add = (sql: string): void => {
    if (!this.#names.has(sql)) this.#names.set(sql, { number: this.#names.size, generation: 0 });
  };

  /** Returns the name of a prepared statement; undefined for another text. */
  find(sql: string): string | undefined {
    const found = this.#names.get(sql);
    return found && `prepared_${found.number}_${found.generation}`;
  }

  /** Gives the text another name, unless another connection has replaced `refused` already. */
  replace(sql: string, refused: string): void {
    const found = this.#names.get(sql);
    if (found && this.find(sql) === refused) found.generation += 1;
  }
}

/** The adapter through which prepared statements add their texts to the names of their database. */
class PlanningAdapter extends PostgresAdapter implements PreparedSqlRegistry {
  readonly addPreparedSql: (sql: string) => void;

  constructor(addPreparedSql: (sql: string) => void) {
    super();
    this.addPreparedSql = addPreparedSql;
  }
}

/** Kysely's dialect of PostgreSQL over a pool whose connections plan prepared statements once. */
export class NamedStatementsDialect extends PostgresDialect {
  readonly #names: StatementNames;

  constructor(pool: PostgresPool, names: StatementNames) {
    super({ pool });
    this.#names = names;
  }

  override createAdapter(): PostgresAdapter {
    return new PlanningAdapter(this.#names.add);
  }
}

/** Returns the pool with connections that execute the texts of prepared statements by their names. */
export function withNamedStatements(pool: pg.Pool, names: StatementNames): PostgresPool {
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const found = wrapped.get(client) ?? new NamedStatementsClient(client, names);
      wrapped.set(client, found);
      return found;
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

class NamedStatementsClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames;
  #inTransaction = false;

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query(statement: unknown, parameters: readonly unknown[] = []): unknown {
    // The server streams no query through Kysely, so the dialect has no cursor constructor.
    if (typeof statement !== 'string') throw new Error('Named statements do not support cursors.');
    return this.#execute(statement, parameters);
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
  }

  async #execute(text: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (text === 'begin' || text.startsWith('start transaction')) this.#inTransaction = true;
    else if (text === 'commit' || text === 'rollback') this.#inTransaction = false;
    const values = [...parameters];
    const name = this.#names.find(text);
    if (name === undefined) return this.#client.query(text, values);
    try {
      return await this.#client.query({ name, text, values });
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      this.#names.replace(text, name);
      if (this.#inTransaction) throw error;
      return await this.#execute(text, values);
    }
  }
}
