/**
 * Content of any size behind one id: inputs, outputs, logs, executables. What is small lies in the database and is as
 * durable as the transaction that brings it; what is large is a blob first and a row then, so that a row never points at
 * nothing. A blob without a row (the process died in between) is moved to the trash by `cleanUp`, which purges it a week
 * later.
 *
 * What must stay true: a blob is removed only when no row names it, nor one that a backup under way has seen. What is left
 * for the sake of a backup is removed by a later `cleanUp`. A blob that a row names comes back from the trash when it is
 * read, and is never purged.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Reader, Writer } from '../database/database.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import { makeId, type Random } from '../random.ts';
import { hasBackupHold } from './backup-holds.ts';
import type { BlobRange, BlobStore } from './blob-store.ts';
import type { InstallationIdentity } from './identity.ts';
import type { ContentsTable } from './schema.ts';
import { type DamagedBlobError, type ReferencedBlob, VerifiedBlobs } from './verified-blobs.ts';

/** Up to here content lies in the database: one group commit instead of three syncs of its own. */
const INLINE_BYTES_MAX = 64 * 1024;
/** A blob without a row may be on its way to one; after this long it is not. */
const ORPHAN_AGE_MS = 60 * 60 * 1000;

/** How long an operator has to notice that a database is the wrong one. */
const TRASH_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** A running server advances `seen_at` every ten minutes, so nothing of its own can be this much newer. */
const KNOWN_TOLERANCE_MS = 60 * 60 * 1000;

const IDS_PER_STATEMENT = 500;

/** Content that is durable as soon as the transaction that inserts it is. */
export interface PreparedContent {
  id: string;
  bytes: number;
  sha256: string | null;
  insert(tx: Writer): Promise<void>;
  /** Removes what was prepared and is not to be inserted; does nothing when it was inserted after all. */
  discard(): Promise<void>;
}

export interface Content {
  id: string;
  bytes: number;
  sha256: string | null;
  open(part?: BlobRange | null): Promise<Readable>;
}

/** Content that has a name already and gets another. */
export type SharedContent = PreparedContent & Content;

export class ContentRemovedError extends Error {}

export class Contents {
  readonly #database: Database;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #verified: VerifiedBlobs;
  readonly #startedAt: number;

  /** `onDamage` is told of each read of a blob that is not what was written. */
  constructor(parts: {
    database: Database;
    blobs: BlobStore;
    clock: Clock;
    random: Random;
    onDamage?: (error: DamagedBlobError) => void;
  }) {
    this.#database = parts.database;
    this.#blobs = parts.blobs;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#verified = new VerifiedBlobs(parts.blobs, parts.onDamage ?? (() => {}));
    this.#startedAt = parts.clock.now();
  }

  /** Prepares content that is at hand. */
  async prepare(content: Buffer): Promise<PreparedContent> {
    if (content.length > INLINE_BYTES_MAX)
      return this.prepareStream(Readable.from([content], { objectMode: false }), content.length);
    const id = makeId<string>(this.#random, 'c');
    const row = { id, bytes: content.length, sha256: null, inline: content, blob_key: null };
    return {
      id,
      bytes: content.length,
      sha256: null,
      insert: (tx) => insert(tx, row),
      discard: async () => {},
    };
  }

  /** Prepares content that comes as a stream; throws TooLargeError beyond `bytesMax`. */
  async prepareStream(source: Readable, bytesMax: number): Promise<PreparedContent> {
    const stored = await this.#blobs.put(makeId<string>(this.#random, 'b'), source, bytesMax);
    const id = makeId<string>(this.#random, 'c');
    const row = { id, bytes: stored.bytes, sha256: stored.sha256, inline: null, blob_key: stored.key };
    return {
      id,
      bytes: stored.bytes,
      sha256: stored.sha256,
      insert: (tx) => insert(tx, row),
      discard: () => this.removeBlobs([stored.key]),
    };
  }

  /**
   * Another name for the same content, with a life of its own. Its insert locks the row it shares from, so that the blob
   * cannot lose its last name in between; it throws ContentGoneError when that has happened already.
   */
  async share(contentId: string): Promise<SharedContent | undefined> {
    const original = await this.find(contentId);
    if (!original) return undefined;
    const id = makeId<string>(this.#random, 'c');
    return {
      ...original,
      id,
      async insert(tx) {
        const query = tx.selectFrom('contents').selectAll().where('id', '=', contentId);
        const row = await locked(tx, query, 'share').executeTakeFirst();
        if (!row) throw new ContentRemovedError(`The content ${contentId} was removed meanwhile.`);
        await insert(tx, { ...row, id });
      },
      async discard() {},
    };
  }

  async find(contentId: string): Promise<Content | undefined> {
    const row = await find(this.#database.read, contentId);
    if (!row) return undefined;
    const { inline } = row;
    return {
      id: row.id,
      bytes: row.bytes,
      sha256: row.sha256,
      open: async (part) =>
        inline === null
          ? this.#verified.open(blobOf(row), part)
          : Readable.from([partOf(inline, part)], { objectMode: false }),
    };
  }

  /** The whole content; for what is known to be small enough to hold. */
  async read(contentId: string): Promise<Buffer | undefined> {
    const row = await find(this.#database.read, contentId);
    if (!row) return undefined;
    if (row.inline !== null) return Buffer.from(row.inline);
    const chunks: Buffer[] = [];
    for await (const chunk of await this.#verified.open(blobOf(row))) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** The last bytes of the content. */
  async readTail(contentId: string, bytesMax: number): Promise<Buffer | undefined> {
    const content = await this.find(contentId);
    if (!content) return undefined;
    if (content.bytes <= bytesMax) return this.read(contentId);
    return buffer(await content.open({ from: content.bytes - bytesMax, to: content.bytes - 1 }));
  }

  /** Removes rows inside the caller's transaction; answers the blobs to hand to `removeBlobs` after the commit. */
  async remove(tx: Writer, contentIds: readonly (string | null)[]): Promise<string[]> {
    const ids = contentIds.filter((id) => id !== null);
    const keys: string[] = [];
    // In parts, because a statement takes only so many parameters.
    for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
      const part = ids.slice(from, from + IDS_PER_STATEMENT);
      const rows = await tx.deleteFrom('contents').where('id', 'in', part).returning('blob_key').execute();
      keys.push(...rows.flatMap((row) => row.blob_key ?? []));
    }
    return keys;
  }

  /** Removes the blobs that no row names any more. */
  async removeBlobs(keys: readonly string[]): Promise<void> {
    for (const key of keys) if (await this.#isFree(key)) await this.#blobs.remove(key);
  }

  /**
   * Moves blobs to the trash that were written and never got a row, and purges those that lay there for a week. Does
   * nothing while it is not certain that the database is that of the blobs. Returns how many were moved.
   */
  async cleanUp(identity: InstallationIdentity): Promise<number> {
    if ((await identity.findCleanUpBlocker()) !== null) return 0;
    const now = this.#clock.now();
    const newest = identity.lastSeenAt + KNOWN_TOLERANCE_MS;
    let moved = 0;
    for await (const key of this.#blobs.list(now - ORPHAN_AGE_MS)) {
      if (!(await this.#isFree(key))) continue;
      const state = await this.#blobs.stat(key);
      if (!state) continue;
      if (state.writtenAt > newest && state.writtenAt < this.#startedAt) {
        await identity.stopCleanUp(
          `the blob ${key} was written on ${formatRfc3339(state.writtenAt)}, and the database knew of nothing after ${formatRfc3339(identity.lastSeenAt)} when the server started: it may be an older copy`,
        );
        return moved;
      }
      await this.#blobs.moveToTrash(key, now);
      moved += 1;
    }
    for await (const key of this.#blobs.listTrash(now - TRASH_RETENTION_MS))
      if (await this.#isFree(key)) await this.#blobs.purge(key);
      else if (await this.#isNamed(key)) await this.#blobs.restore(key);
    return moved;
  }

  /**
   * Looks for names first and for holds after it. A backup takes its hold first and looks at the names after it; so one
   * whose hold is not seen here does not see the blob named.
   */
  async #isFree(key: string): Promise<boolean> {
    if (await this.#isNamed(key)) return false;
    return !(await hasBackupHold(this.#database.read, this.#clock.now()));
  }

  async #isNamed(key: string): Promise<boolean> {
    const named = this.#database.read.selectFrom('contents').select('id').where('blob_key', '=', key);
    return (await named.executeTakeFirst()) !== undefined;
  }
}

function blobOf({ blob_key, bytes, sha256 }: ContentsTable): ReferencedBlob {
  return { key: blob_key ?? '', bytes, sha256 };
}

function partOf(inline: Uint8Array, part?: BlobRange | null): Buffer {
  const all = Buffer.from(inline);
  return part ? all.subarray(part.from, part.to + 1) : all;
}

const insertContent = prepareStatement((db, row: ContentsTable) => db.insertInto('contents').values(row));

async function insert(tx: Writer, row: ContentsTable): Promise<void> {
  await insertContent(tx, row);
}

function find(db: Reader, id: string) {
  return db.selectFrom('contents').selectAll().where('id', '=', id).executeTakeFirst();
}
