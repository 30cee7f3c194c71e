/**
 * Finds the servers and workers that are connected to a PostgreSQL database, by the name of the connection on which each of
 * them listens. Unlike a row of a table, it is gone as soon as the process is, however it ended.
 */
import { sql } from 'kysely';
import type { Reader } from '../database.ts';
import { LISTENER_NAME } from '../postgres/postgres.ts';

/** A server or worker of an earlier release. */
export interface OlderServer {
  /** Address of its machine; null for a connection over a socket of this machine. */
  address: string | null;
  /** When it connected, in milliseconds since the epoch. */
  since: number;
}

/** Lists the connected processes that know fewer migrations, longest connected first. Releases before 0160 name no number. */
export async function listOlderServers(db: Reader, migrationCount: number): Promise<OlderServer[]> {
  const { rows } = await sql<{ name: string; address: string | null; since: number }>`
    select application_name as name, host(client_addr) as address,
      (extract(epoch from backend_start) * 1000)::bigint as since
    from pg_stat_activity
    where datname = current_database() and application_name like ${`${LISTENER_NAME}%`}
    order by backend_start`.execute(db);
  return rows
    .filter(({ name }) => Number(name.slice(LISTENER_NAME.length)) < migrationCount)
    .map(({ address, since }) => ({ address, since }));
}
