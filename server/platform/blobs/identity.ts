/**
 * The identity of an installation: an id in the database and in a marker next to the blobs. Its generation grows in the
 * database first and in the marker second. A marker with a larger generation therefore proves that the database is older
 * than the blobs: someone restored an earlier copy, or the last commits were lost.
 *
 * Invariant: the clean-up removes no blob while the ids differ, or after it found the database to be older.
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

/** Returns the identity of the database; undefined before the first start. */
export function findIdentity(db: Reader): Promise<IdentityTable | undefined> {
  return db.selectFrom('installation_identity').selectAll().executeTakeFirst();
}

/** Creates the identity of the database when it has none, and returns it. `seenAt` is the time of the last write. */
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

/** Stops the clean-up until an operator adopts the blobs. Keeps the first reason. */
export async function stopCleanUp(database: Pick<Database, 'transact'>, reason: string): Promise<void> {
  await database.transact((tx) =>
    tx
      .updateTable('installation_identity')
      .set({ clean_up_stopped: reason })
      .where('clean_up_stopped', 'is', null)
      .execute(),
  );
}

/** The identity that this process claimed for its database and blobs. */
export class InstallationIdentity {
  readonly id: string;
  /** The latest `seen_at` of the database when this process opened it, in milliseconds since the epoch. */
  readonly lastSeenAt: number;
  readonly #parts: Parts;

  private constructor(parts: Parts, row: IdentityTable) {
    this.#parts = parts;
    this.id = row.id;
    this.lastSeenAt = row.seen_at;
  }

  /**
   * Writes the marker of the database next to the blobs. Throws ConfigError when they belong to another installation: at this
   * point of a start, only when two installations start on one empty store at the same time.
   */
  static async claim(parts: Parts, row: IdentityTable): Promise<InstallationIdentity> {
    const { blobs, log, database } = parts;
    const identity = new InstallationIdentity(parts, row);
    const own = { installation: row.id, generation: row.generation, mayBeEmpty: false };
    let found = await blobs.readMarker();
    if (found === null) {
      await blobs.writeMarker(own, { isFirst: true }).catch((error: unknown) => {
        if (!(error instanceof MarkerExistsError)) throw error;
      });
      found = await blobs.readMarker();
    }
    if (found?.installation !== row.id)
      throw new ConfigError(
        `The blobs belong to the installation ${found?.installation ?? '(none)'}, and the database to ${row.id}: two installations share one blob store. Set SWITCHYARD_BLOBS to a store that no other installation uses.`,
      );
    // Reads the row again after the marker: another process of the installation may have advanced both.
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
        'Clean-up of blobs without a row is stopped; run `npm run verify`, then `npm run installation -- adopt` to resume it',
      );
    await identity.advanceGeneration();
    return identity;
  }

  /** Returns the reason why the clean-up must not remove blobs, or null. */
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

  /** Increases the generation. Logs a failure, because the next call makes up for it. */
  async advanceGeneration(): Promise<void> {
    const { database, blobs, clock, log } = this.#parts;
    try {
      const marker = await blobs.readMarker();
      const generationMin = marker?.installation === this.id ? marker.generation : 0;
      const generation = await database.transact((tx) => advance(tx, generationMin, clock.now()));
      if (marker?.installation === this.id) await blobs.writeMarker({ ...marker, generation });
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Generation of the installation could not be advanced');
    }
  }

  /** Stops the clean-up of every process, and logs a warning. */
  async stopCleanUp(reason: string): Promise<void> {
    this.#parts.log.warn({ reason }, 'Clean-up of blobs without a row stopped; run `npm run verify`');
    await stopCleanUp(this.#parts.database, reason);
  }
}

/** Writes the identity unchanged. Throws when the database accepts no writes. */
export async function probeDatabaseWrite(tx: Writer): Promise<void> {
  await tx
    .updateTable('installation_identity')
    .set(({ ref }) => ({ seen_at: ref('seen_at') }))
    .execute();
}

/** Increases the generation in one statement, because several servers may do so at the same time, and returns it. */
async function advance(tx: Writer, generationMin: number, now: number): Promise<number> {
  const { generation } = await tx
    .updateTable('installation_identity')
    .set(({ ref }) => ({
      generation: sql<number>`case when ${ref('generation')} < ${generationMin} then ${generationMin} else ${ref('generation')} end + 1`,
      seen_at: now,
    }))
    .returning('generation')
    .executeTakeFirstOrThrow();
  return generation;
}
