/**
 * Which installation the database and the blobs belong to. The id stands in the database and, in a marker, beside the
 * blobs. The generation grows in the database first and in the marker after it, so that a marker that is ahead proves that
 * the database is older than the blobs: a copy from earlier was put in its place, or its last commits were lost.
 *
 * Invariant: no blob is removed for want of a row while the ids differ, or after the database was found to be older.
 */
import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import type { Database, Reader, Writer } from '../database/database.ts';
import { errorMessage, type Log } from '../log.ts';
import { makeId, type Random } from '../random.ts';
import { type BlobStore, MarkerExistsError } from './blob-store.ts';
import type { IdentityTable } from './schema.ts';

interface Parts {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  log: Log;
}

/** undefined before the first start of a release that has ids. */
export function findIdentity(db: Reader): Promise<IdentityTable | undefined> {
  return db.selectFrom('installation_identity').selectAll().executeTakeFirst();
}

/** Gives the database an id where it has none; `seenAt` is when it was last written to. Returns the row. */
export async function ensureIdentity(
  database: Pick<Database, 'read' | 'transact'>,
  { random, seenAt }: { random: Random; seenAt: number },
): Promise<IdentityTable> {
  const row = createIdentityRow(random, seenAt);
  await database.transact((tx) =>
    tx
      .insertInto('installation_identity')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
  return (await findIdentity(database.read)) ?? row;
}

function createIdentityRow(random: Random, now: number): IdentityTable {
  return { one: 1, id: makeId(random, 'inst'), generation: 1, seen_at: now, clean_up_stopped: null };
}

/** Stops the clean-up until an operator adopts the blobs; the first reason stays. */
export async function stopCleanUp(database: Pick<Database, 'transact'>, reason: string): Promise<void> {
  await database.transact((tx) =>
    tx
      .updateTable('installation_identity')
      .set({ clean_up_stopped: reason })
      .where('clean_up_stopped', 'is', null)
      .execute(),
  );
}

export class InstallationIdentity {
  readonly id: string;
  /** The database knew of nothing later when this process opened it. */
  readonly lastSeenAt: number;
  readonly #parts: Parts;

  private constructor(parts: Parts, row: IdentityTable) {
    this.#parts = parts;
    this.id = row.id;
    this.lastSeenAt = row.seen_at;
  }

  /**
   * Marks the blobs as those of the database. Throws ConfigError when they are another installation's, which happens here
   * only when two of them begin on one empty store at the same time.
   */
  static async claim(parts: Parts, row: IdentityTable): Promise<InstallationIdentity> {
    const { blobs, log, database } = parts;
    const identity = new InstallationIdentity(parts, row);
    const mine = { installation: row.id, generation: row.generation, mayBeEmpty: false };
    let found = await blobs.readMarker();
    if (found === null) {
      await blobs.writeMarker(mine, { isFirst: true }).catch((error: unknown) => {
        if (!(error instanceof MarkerExistsError)) throw error;
      });
      found = await blobs.readMarker();
    }
    if (found?.installation !== row.id)
      throw new ConfigError(
        `The blobs belong to the installation ${found?.installation ?? '(none)'}, and the database to ${row.id}: two installations share one blob store. Set SWITCHYARD_BLOBS to a place of its own.`,
      );
    // After the marker: another process of the installation may have advanced both since the row was read.
    const current = (await findIdentity(database.read)) ?? row;
    if (found.generation > current.generation)
      await stopCleanUp(
        database,
        `the database is older than the blobs: it has generation ${current.generation}, and they have ${found.generation}`,
      );
    const { clean_up_stopped: stopped } = (await findIdentity(database.read)) ?? row;
    if (stopped !== null)
      log.warn(
        { reason: stopped },
        'Clean-up of blobs without a row is stopped. Run `npm run verify`; `npm run installation -- adopt` starts it again.',
      );
    await identity.advanceGeneration();
    return identity;
  }

  /** Why no blob may be removed for want of a row, or null. */
  async findCleanUpBlocker(): Promise<string | null> {
    const { database, blobs } = this.#parts;
    const row = await findIdentity(database.read);
    if (row?.id !== this.id) return `the database has become that of the installation ${row?.id ?? '(none)'}`;
    if (row.clean_up_stopped !== null) return row.clean_up_stopped;
    const marker = await blobs.readMarker();
    if (marker?.installation === this.id) return null;
    return marker
      ? `the blobs have become those of the installation ${marker.installation}`
      : 'the marker installation.json beside the blobs is gone';
  }

  /** Lets the generation grow. What fails is logged: the next time makes up for it. */
  async advanceGeneration(): Promise<void> {
    const { database, blobs, clock, log } = this.#parts;
    try {
      const marker = await blobs.readMarker();
      const least = marker?.installation === this.id ? marker.generation : 0;
      const generation = await database.transact((tx) => advance(tx, least, clock.now()));
      if (marker?.installation === this.id) await blobs.writeMarker({ ...marker, generation });
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'The generation of the installation could not be advanced.');
    }
  }

  /** Stops the clean-up for every process, with a warning. */
  async stopCleanUp(reason: string): Promise<void> {
    this.#parts.log.warn({ reason }, 'Clean-up of blobs without a row stopped. Run `npm run verify`.');
    await stopCleanUp(this.#parts.database, reason);
  }
}

/** Writes the row as it is: tells whether the database takes writes. */
export async function probeDatabaseWrite(tx: Writer): Promise<void> {
  await tx
    .updateTable('installation_identity')
    .set(({ ref }) => ({ seen_at: ref('seen_at') }))
    .execute();
}

/** Several servers may do this at once on one database. */
async function advance(tx: Writer, least: number, now: number): Promise<number> {
  const { generation } = await tx
    .updateTable('installation_identity')
    .set(({ ref }) => ({
      generation: sql<number>`case when ${ref('generation')} < ${least} then ${least} else ${ref('generation')} end + 1`,
      seen_at: now,
    }))
    .returning('generation')
    .executeTakeFirstOrThrow();
  return generation;
}
