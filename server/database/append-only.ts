/** Tables whose rows the database itself keeps as they were written, whoever asks for something else. */
import { type Kysely, sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * From now on rows are only added to the table. The columns of `once` may be filled in later, together and once: the first
 * of them tells whether they are.
 */
export async function makeAppendOnly(
  db: Kysely<unknown>,
  kind: Database['kind'],
  table: string,
  once: readonly [string, ...string[]],
): Promise<void> {
  const found = (await db.introspection.getTables()).find((one) => one.name === table);
  const kept = (found?.columns ?? []).map((one) => one.name).filter((name) => !once.includes(name));
  const named = (name: string) => sql.ref(name);
  const same = kind === 'postgres' ? sql`is not distinct from` : sql`is`;
  const changed = sql`${named(`old.${once[0]}`)} is not null or not (${sql.join(
    kept.map((name) => sql`${named(`new.${name}`)} ${same} ${named(`old.${name}`)}`),
    sql` and `,
  )})`;
  const sentence = sql.lit(`Rows of ${table} are only added, never changed and never removed.`);
  const name = (what: string) => sql.id(`${table}_${what}`);
  if (kind === 'sqlite') {
    await sql`create trigger ${name('unchanged')} before update on ${sql.id(table)} when ${changed}
      begin select raise(abort, ${sentence}); end`.execute(db);
    await sql`create trigger ${name('kept')} before delete on ${sql.id(table)}
      begin select raise(abort, ${sentence}); end`.execute(db);
    return;
  }
  await sql`create function ${name('refuse')}() returns trigger language plpgsql as
    $$ begin raise exception using message = ${sentence}; end $$`.execute(db);
  const refuse = sql`execute function ${name('refuse')}()`;
  await sql`create trigger ${name('unchanged')} before update on ${sql.id(table)}
    for each row when (${changed}) ${refuse}`.execute(db);
  await sql`create trigger ${name('kept')} before delete on ${sql.id(table)} for each row ${refuse}`.execute(
    db,
  );
  await sql`create trigger ${name('whole')} before truncate on ${sql.id(table)} for each statement ${refuse}`.execute(
    db,
  );
}
