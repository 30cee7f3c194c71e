/**
 * Leases: a role that one process on the database has at a time. A lease expires by the clock of the database, so clocks of
 * machines that disagree, and processes that are killed or suspended, delay nobody. SQLite has one process, which holds every
 * lease.
 *
 * Invariant: the fencing token of a lease grows each time another process gets it.
 */
import { sql } from 'kysely';
import type { Database, Reader, Writer } from './database.ts';
import { executeAll, type Migration } from './migrate.ts';

export interface LeasesTable {
  name: string;
  /** Id of the process that got the lease last. */
  holder: string;
  /** Its data folder. The folder is locked, so another process in it proves that the holder has ended. */
  folder_id: string;
  /** Its machine and process id, for people. */
  holder_name: string;
  fence: number;
  /** Milliseconds since the epoch, by the clock of the database. */
  expires_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table leases (
      name text primary key, holder text not null, folder_id text not null, holder_name text not null,
      fence bigint not null, expires_at bigint not null
    )`,
  ]);

/** A process that may hold a lease. */
export interface LeaseHolder {
  id: string;
  folderId: string;
  /** Names the process for people, such as `db-1, process 4711`. */
  name: string;
}

/** The lease after an attempt to get it. */
export interface LeaseState {
  /** True: this process holds the lease. */
  isHeld: boolean;
  /** The name of the process that holds the lease. */
  holderName: string;
  fence: number;
  /** Milliseconds until the lease expires unless its holder renews it; infinite on SQLite. */
  remainingMs: number;
}

export interface Lease {
  /** Renews the lease of this process, or gets it if no other process holds it. */
  acquire(): Promise<LeaseState>;
  /** Ends the lease if this process holds it, so that another one gets it without waiting. */
  release(): Promise<void>;
}

interface LeaseSettings {
  name: string;
  durationMs: number;
  holder: LeaseHolder;
}

/** Returns the lease of the name for the process, which does not hold it before the first `acquire`. */
export function createLease(database: Database, settings: LeaseSettings): Lease {
  const { name, durationMs, holder } = settings;
  if (database.kind === 'sqlite')
    return {
      acquire: async () => ({
        isHeld: true,
        holderName: holder.name,
        fence: 1,
        remainingMs: Number.POSITIVE_INFINITY,
      }),
      release: async () => {},
    };
  let isHolder = false;
  const write = async (): Promise<LeaseState | null> => {
    const fence = await database.transact((tx) => writeLease(tx, settings));
    isHolder = fence !== undefined;
    return fence === undefined
      ? null
      : { isHeld: true, holderName: holder.name, fence, remainingMs: durationMs };
  };
  return {
    async acquire() {
      const renewed = isHolder ? await write() : null;
      if (renewed) return renewed;
      // The holder alone writes each time. The others read, which locks no row.
      const current = await readLease(database.read, name);
      if (current && current.folder_id !== holder.folderId && current.remaining_ms > 0)
        return {
          isHeld: false,
          holderName: current.holder_name,
          fence: current.fence,
          remainingMs: current.remaining_ms,
        };
      // Without a lease after the write, another process was faster. Its lease is new, so all of its time is left.
      return (await write()) ?? { isHeld: false, holderName: '', fence: 0, remainingMs: durationMs };
    },
    async release() {
      isHolder = false;
      await database.transact((tx) =>
        tx
          .updateTable('leases')
          .set({ expires_at: 0 })
          .where('name', '=', name)
          .where('holder', '=', holder.id)
          .execute(),
      );
    },
  };
}

/** Milliseconds since the epoch by the clock of PostgreSQL. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

function readLease(db: Reader, name: string) {
  return db
    .selectFrom('leases')
    .select(['folder_id', 'holder_name', 'fence'])
    .select(sql<number>`expires_at - ${NOW}`.as('remaining_ms'))
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Renews or gets the lease in one statement; returns its fencing token, or undefined while another process holds it. */
async function writeLease(
  tx: Writer,
  { name, durationMs, holder }: LeaseSettings,
): Promise<number | undefined> {
  const expires_at = sql<number>`${NOW} + ${durationMs}::bigint`;
  const own = { holder: holder.id, folder_id: holder.folderId, holder_name: holder.name };
  const row = await tx
    .insertInto('leases')
    .values({ name, ...own, fence: 1, expires_at })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet(({ ref }) => ({
          ...own,
          expires_at,
          fence: sql<number>`${ref('leases.fence')} + case when ${ref('leases.holder')} = ${holder.id} then 0 else 1 end`,
        }))
        .where((eb) =>
          eb.or([
            eb('leases.holder', '=', holder.id),
            eb('leases.folder_id', '=', holder.folderId),
            eb('leases.expires_at', '<=', NOW),
          ]),
        ),
    )
    .returning('fence')
    .executeTakeFirst();
  return row?.fence;
}
