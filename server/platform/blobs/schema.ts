/** The tables of contents, backup holds and the identity of the installation. */
import { sql } from 'kysely';
import { executeAll, type Migration } from '../database/migrate.ts';

/** One piece of content. */
export interface ContentsTable {
  id: string;
  bytes: number;
  /** In hex. */
  sha256: string;
  /** Small content itself, otherwise null. */
  inline: Uint8Array | null;
  /** The blob of large content, otherwise null. Several contents may share a blob. */
  blob_key: string | null;
}

/** While a hold exists no blob is removed: a backup copies the blobs that its database names. */
export interface BackupHoldsTable {
  id: string;
  /** A running backup extends it. In milliseconds since the epoch. */
  expires_at: number;
}

/** The only row: the installation of the database. The blob store and the data folder have the same id. */
export interface IdentityTable {
  one: 1;
  id: string;
  /** Grows with every start and every clean-up, first here and then in the marker next to the blobs. */
  generation: number;
  /** The time of the last increase of the generation, in milliseconds since the epoch. */
  seen_at: number;
  /** The reason why the clean-up of blobs is stopped; null when it runs. */
  clean_up_stopped: string | null;
}

export const createTables: Migration['up'] = (db, { bytes }) =>
  executeAll(db, [
    sql`create table contents (
      id text primary key, bytes bigint not null, sha256 text not null, inline ${bytes}, blob_key text
    )`,
    sql`create index contents_blob on contents (blob_key)`,
    sql`create table backup_holds (id text primary key, expires_at bigint not null)`,
    sql`create table installation_identity (
      one integer primary key, id text not null, generation bigint not null, seen_at bigint not null,
      clean_up_stopped text
    )`,
  ]);
