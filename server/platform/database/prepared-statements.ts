/**
 * Compiles the statements of the hottest paths once. Kysely builds and compiles a statement for each execution, which took
 * a sixth of the time of creating a run. A prepared statement is built once for each database, with placeholders for the
 * values, and an execution only inserts the values.
 */
import type { CompiledQuery, DialectAdapter } from 'kysely';
import type { Reader } from './database.ts';
import { publishPrepared } from './statement-channel.ts';

/** An adapter that receives the texts of prepared statements (postgres/named-statements.ts). */
export interface PreparedSqlRegistry {
  addPreparedSql(sql: string): void;
}

/** Executes a prepared statement and returns its rows. */
type ExecuteSql = (
  sql: string,
  parameters: readonly unknown[],
  options: StatementOptions,
) => unknown[] | Promise<unknown[]>;

interface StatementOptions {
  /**
   * true: many requests execute this read with the same values. Outside a transaction several callers may share its rows
   * until the next commit, and must not change them.
   */
  isReusable?: boolean;
}

const EXECUTE = Symbol('execute');

/** A database or transaction that has an executor of its own for prepared statements. */
type DirectReader = Reader & { [EXECUTE]?: ExecuteSql };

/**
 * Makes `execute` run the prepared statements of `db` instead of Kysely. Kysely awaits seven promises for each statement,
 * above all for a connection and its lock. They took half of the time of reading a row by its key on SQLite.
 */
export function executeDirectly(db: Reader, execute: ExecuteSql): void {
  const direct: DirectReader = db;
  direct[EXECUTE] = publishPrepared(execute);
}

/** Stands for a value while Kysely compiles the statement. */
class Placeholder {
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
  /** For each parameter the name of its value, or null for a constant of the statement. */
  names: (string | null)[];
}

/**
 * Returns a function that executes the statement with the values of each call. `build` receives placeholders by name and
 * only passes them on as values. It must not choose the statement by them, because it runs once for each database.
 */
export function prepareStatement<Values extends object, R>(
  build: (db: Reader, values: Values) => Compilable<R>,
  options: StatementOptions = {},
): (db: Reader, values: Values) => Promise<R[]> {
  // By adapter: a database and its transactions have the same one.
  const compiled = new WeakMap<object, Compiled<R>>();

  const compileFor = (db: Reader, values: Values): Compiled<R> => {
    const names = Object.keys(values);
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as Values;
    const query = build(db, placeholders).compile();
    return { query, names: query.parameters.map((one) => (one instanceof Placeholder ? one.name : null)) };
  };

  return async (db, values) => {
    const { adapter } = db.getExecutor();
    let found = compiled.get(adapter);
    if (!found) {
      found = compileFor(db, values);
      if (isPreparedSqlRegistry(adapter)) adapter.addPreparedSql(found.query.sql);
      compiled.set(adapter, found);
    }
    const valuesByName = values as Record<string, unknown>;
    const parameters = found.names.map((name, at) =>
      name === null ? found.query.parameters[at] : valuesByName[name],
    );
    const { [EXECUTE]: execute }: DirectReader = db;
    if (execute) return execute(found.query.sql, parameters, options) as R[] | Promise<R[]>;
    const query: CompiledQuery<R> = { ...found.query, parameters };
    return (await db.executeQuery<R>(query)).rows;
  };
}

function isPreparedSqlRegistry(adapter: DialectAdapter): adapter is DialectAdapter & PreparedSqlRegistry {
  return 'addPreparedSql' in adapter;
}

/**
 * A family of prepared statements, one for each variant, such as a list of classes. Each is prepared when it is first
 * executed, because a statement takes longer to build than to execute. `formatKey` identifies the variant; there must be few.
 */
export function prepareVariants<Variant, Values extends object, R>(
  formatKey: (variant: Variant) => string,
  build: (db: Reader, variant: Variant, values: Values) => Compilable<R>,
  options: StatementOptions = {},
): (db: Reader, variant: Variant, values: Values) => Promise<R[]> {
  const statements = new Map<string, (db: Reader, values: Values) => Promise<R[]>>();
  return (db, variant, values) => {
    const key = formatKey(variant);
    let statement = statements.get(key);
    if (!statement) {
      statement = prepareStatement<Values, R>(
        (reader, standIns) => build(reader, variant, standIns),
        options,
      );
      statements.set(key, statement);
    }
    return statement(db, values);
  };
}
