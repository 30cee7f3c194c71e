/**
 * Statements of the hottest paths, compiled once. Kysely builds and compiles a statement anew every time it is asked,
 * which took a sixth of the time of creating a run; here it is built once per database with stand-ins for the values, and
 * later only the values are put in.
 */
import type { CompiledQuery } from 'kysely';
import type { Reader } from './database.ts';

/** The texts of all of them: what PostgreSQL is to plan once for each connection (named-statements.ts). */
export const preparedSql = new Set<string>();

/** Executes a prepared statement and returns its rows. */
export type ExecuteSql = (
  sql: string,
  parameters: readonly unknown[],
  options: StatementOptions,
) => unknown[] | Promise<unknown[]>;

export interface StatementOptions {
  /**
   * true: a read that many requests make with the same values. Outside a transaction its rows may be shared by several
   * callers, which must not change them, and reused until the next commit.
   */
  isReusable?: boolean;
}

const executors = new WeakMap<object, ExecuteSql>();

/**
 * Lets the prepared statements of `db` be executed by `execute` in place of Kysely. Kysely waits seven times for each
 * statement, for a connection and its lock above all: half of the time that a row by its key took on SQLite.
 */
export function executeDirectly(db: Reader, execute: ExecuteSql): void {
  executors.set(db, execute);
}

/** Takes the place of a value while the statement is compiled. */
class StandIn {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

interface Compiled<R> {
  query: CompiledQuery<R>;
  /** For each parameter the name of its value, or null for one that is part of the statement. */
  names: (string | null)[];
}

/**
 * A statement whose values are given each time. `build` gets the values by name and may only pass them on as values: it
 * runs once, before there are any. It must not choose the statement by them.
 */
export function prepareStatement<Values extends object, R>(
  build: (db: Reader, values: Values) => Compilable<R>,
  options: StatementOptions = {},
): (db: Reader, values: Values) => Promise<R[]> {
  // By the class that compiles: one for each kind of database.
  const compiled = new WeakMap<object, Compiled<R>>();

  const compileFor = (db: Reader, values: Values): Compiled<R> => {
    const names = Object.keys(values);
    const standIns = Object.fromEntries(names.map((name) => [name, new StandIn(name)])) as Values;
    const query = build(db, standIns).compile();
    return { query, names: query.parameters.map((one) => (one instanceof StandIn ? one.name : null)) };
  };

  return async (db, values) => {
    const kind = db.getExecutor().adapter.constructor;
    let found = compiled.get(kind);
    if (!found) {
      found = compileFor(db, values);
      preparedSql.add(found.query.sql);
      compiled.set(kind, found);
    }
    const given = values as Record<string, unknown>;
    const parameters = found.names.map((name, at) =>
      name === null ? found.query.parameters[at] : given[name],
    );
    const execute = executors.get(db);
    if (execute) return execute(found.query.sql, parameters, options) as R[] | Promise<R[]>;
    const query: CompiledQuery<R> = { ...found.query, parameters };
    return (await db.executeQuery<R>(query)).rows;
  };
}
