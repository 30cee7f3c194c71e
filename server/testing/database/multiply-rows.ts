/** Fills tables inside the database, because to create that many rows by HTTP takes too long. */
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tables } from '../../platform/database/database.ts';

/** Rows of one transaction, so that the log of the database stays small. */
const BATCH_SIZE = 50_000;

/** The number of the row with leading zeros, so that text sorts as numbers do; for use in `changes`. */
export const PADDED_ROW_NUMBER = 'substr(cast(1000000000 + n as text), 2)';

export interface MultiplySpec<T extends keyof Tables> {
  table: T;
  /** The row to copy: its key column and the value. */
  template: { column: keyof Tables[T] & string; value: string };
  count: number;
  /** Changed columns, as SQL for both databases: `n` is the number of the row from 1, `t` the template row. */
  changes: Record<string, string>;
}

/** Inserts `count` copies of a row. Throws when the row or a changed column does not exist. */
export async function multiplyRows<T extends keyof Tables>(
  database: Database,
  { table, template: key, count, changes }: MultiplySpec<T>,
): Promise<void> {
  const template: RawBuilder<Record<string, unknown>> = sql`
    select * from ${sql.table(table)} where ${sql.ref(key.column)} = ${key.value}`;
  const [row] = (await template.execute(database.read)).rows;
  if (!row) throw new Error(`The table ${table} has no row ${key.value} to copy.`);
  const columns = Object.keys(row);
  const unknown = Object.keys(changes).find((name) => !columns.includes(name));
  if (unknown) throw new Error(`${table} has no column ${unknown}.`);
  const values = columns.map((name) => sql.raw(changes[name] ?? `t.${name}`));
  for (let first = 1; first <= count; first += BATCH_SIZE) {
    const last = Math.min(count, first + BATCH_SIZE - 1);
    await database.transact((tx) =>
      sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
        with recursive series(n) as (
          select cast(${sql.lit(first)} as bigint) union all select n + 1 from series where n < ${sql.lit(last)}
        )
        select ${sql.join(values)} from series cross join (${template}) as t`.execute(tx),
    );
  }
}
