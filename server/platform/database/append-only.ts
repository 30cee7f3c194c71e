/** Triggers that refuse to change or delete the rows of a table, whichever statement tries it. */
import { type Kysely, sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Makes the table append-only. A later update may fill in the columns of `once`, all together and one time: they count as
 * empty while the first of them is null.
 */
export async function makeAppendOnly(
  db: Kysely<unknown>,
  kind: Database['kind'],
  table: string,
  once: readonly [string, ...string[]],
): Promise<void> {
  const metadata = (await db.introspection.getTables()).find((one) => one.name === table);
  const fixedColumns = (metadata?.columns ?? [])
    .map((one) => one.name)
    .filter((name) => !once.includes(name));
  const reference = (name: string) => sql.ref(name);
  const same = kind === 'postgres' ? sql`is not distinct from` : sql`is`;
  const changesRow = sql`${reference(`old.${once[0]}`)} is not null or not (${sql.join(
    fixedColumns.map((name) => sql`${reference(`new.${name}`)} ${same} ${reference(`old.${name}`)}`),
    sql` and `,
  )})`;
  const message = sql.lit(`Rows of ${table} are only added, never changed and never removed.`);
  const name = (what: string) => sql.id(`${table}_${what}`);
  if (kind === 'sqlite') {
    await sql`create trigger ${name('unchanged')} before update on ${sql.id(table)} when ${changesRow}
      begin select raise(abort, ${message}); end`.execute(db);
    await sql`create trigger ${name('kept')} before delete on ${sql.id(table)}
      begin select raise(abort, ${message}); end`.execute(db);
    return;
  }
  await sql`create function ${name('refuse')}() returns trigger language plpgsql as
    $$ begin raise exception using message = ${message}; end $$`.execute(db);
  const refuse = sql`execute function ${name('refuse')}()`;
  await sql`create trigger ${name('unchanged')} before update on ${sql.id(table)}
    for each row when (${changesRow}) ${refuse}`.execute(db);
  await sql`create trigger ${name('kept')} before delete on ${sql.id(table)} for each row ${refuse}`.execute(
    db,
  );
  await sql`create trigger ${name('whole')} before truncate on ${sql.id(table)} for each statement ${refuse}`.execute(
    db,
  );
}
