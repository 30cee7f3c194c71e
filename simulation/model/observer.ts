/** Reads the database of the server between two events, with the statements prepared once for each connection. */

export type Row = Record<string, unknown>;

/** A connection as the observer uses it. */
export interface ObservedConnection {
  prepare(sql: string): ObservedStatement;
  /** Changes with each commit that has changed rows. */
  readVersion(): number;
}

interface ObservedStatement {
  all(...values: (string | number)[]): Row[];
}

/** Reads a database. */
export class Observer {
  readonly #connect: () => ObservedConnection;
  #connection: ObservedConnection | null = null;
  readonly #statements = new Map<string, ObservedStatement>();

  /** `connect` returns the present connection; a crash of the server replaces it. */
  constructor(connect: () => ObservedConnection) {
    this.#connect = connect;
  }

  query(sql: string, ...values: (string | number)[]): Row[] {
    const connection = this.#connect();
    if (connection !== this.#connection) this.#statements.clear();
    this.#connection = connection;
    const statement = this.#statements.get(sql) ?? connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values);
  }

  /** Returns a number that changes with each commit that has changed rows. */
  readVersion(): number {
    return this.#connect().readVersion();
  }

  /** Returns the number in the first column of the first row. */
  count(sql: string, ...values: (string | number)[]): number {
    const [row] = this.query(sql, ...values);
    return Number(Object.values(row ?? {})[0] ?? 0);
  }
}
