/**
 * Stores content of any size under one id: inputs, outputs, logs, executables. Small content is part of its row and as
 * durable as the transaction of the row. Large content becomes a blob before its row, so that a row never names a missing
 * blob. When the process dies in between, `cleanUp` moves the blob to the trash and purges it a week later.
 *
 * Invariants: a blob is removed only when no row names it, also none that a backup under way has seen. A later `cleanUp`
 * removes the blobs that a backup held. A blob that a row names leaves the trash when it is read, and is never purged.
 */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Reader, Writer } from '../database/database.ts';
import { splitIntoBatches } from '../database/id-batches.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import { makeId, type Random } from '../random.ts';
import { hasBackupHold } from './backup-holds.ts';
import type { BlobRange, BlobStore } from './blob-store.ts';
import type { InstallationIdentity } from './identity.ts';
import type { ContentsTable } from './schema.ts';
import { type DamagedBlobError, type ReferencedBlob, VerifiedBlobs } from './verified-blobs.ts';

/** Content up to this size is part of its row, which costs one group commit instead of three syncs. */
const INLINE_BYTES_MAX = 64 * 1024;
/** A younger blob without a row may still get one. */
const ORPHAN_AGE_MS = 60 * 60 * 1000;

/** An operator has this long to notice that the database is the wrong one. */
const TRASH_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** A running server advances `seen_at` every ten minutes, so its own blobs are never this much newer. */
const KNOWN_TOLERANCE_MS = 60 * 60 * 1000;

/** Content that becomes durable with the transaction that inserts it. */
export interface PreparedContent {
  id: string;
  bytes: number;
  /** In hex. */
  sha256: string;
  insert(tx: Writer): Promise<void>;
  /** Removes the blob of content that was not inserted; does nothing when a row names it. */
  discard(): Promise<void>;
}

/** Stored content. */
export interface Content {
  id: string;
  bytes: number;
  sha256: string;
  /** Opens the content, or the part of it. Throws DamagedBlobError, also while the stream is read. */
  open(part?: BlobRange | null): Promise<Readable>;
}

/** Stored content that gets a second id. */
export type SharedContent = PreparedContent & Content;

/** Another transaction removed the content before it could be shared. */
export class ContentRemovedError extends Error {}

/** All content of one installation. */
export class Contents {
  readonly #database: Database;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #verified: VerifiedBlobs;
  readonly #startedAt: number;

  /** `onDamage` receives the error of each read of a damaged blob. */
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

  /** Prepares content in memory. */
  async prepare(content: Buffer): Promise<PreparedContent> {
    if (content.length > INLINE_BYTES_MAX)
      return this.prepareStream(Readable.from([content], { objectMode: false }), content.length);
    const id = makeId<string>(this.#random, 'c');
    const sha256 = hash('sha256', content, 'hex');
    const row = { id, bytes: content.length, sha256, inline: content, blob_key: null };
    return {
      id,
      bytes: content.length,
      sha256,
      insert: (tx) => insert(tx, row),
      discard: async () => {},
    };
  }

  /** Prepares the parts of a text as content. Holds a long text in memory only in parts. */
  async prepareText(parts: AsyncGenerator<string>): Promise<PreparedContent> {
    let head = '';
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      head += next.value;
      if (head.length <= INLINE_BYTES_MAX) continue;
      const rest = (async function* () {
        yield head;
        yield* parts;
      })();
      return this.prepareStream(Readable.from(rest, { objectMode: false }), Number.MAX_SAFE_INTEGER);
    }
    return this.prepare(Buffer.from(head));
  }

  /** Prepares content from a stream. Throws TooLargeError beyond `bytesMax`. */
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
   * Returns the same content under a second id, whose row can be removed separately; undefined when there is no such content.
   * Its `insert` locks the original row, so that the blob always has a row. It throws ContentRemovedError when another
   * transaction removed the original.
   */
  async share(contentId: string): Promise<SharedContent | undefined> {
    const original = await this.find(contentId);
    if (!original) return undefined;
    const id = makeId<string>(this.#random, 'c');
    return {
      ...original,
      id,
      insert: (tx) => insertCopy(tx, contentId, id),
      async discard() {},
    };
  }

  /** Gives the content a second id in the transaction, and returns it. Throws as the `insert` of shared content does. */
  async copy(tx: Writer, contentId: string): Promise<string> {
    const id = makeId<string>(this.#random, 'c');
    await insertCopy(tx, contentId, id);
    return id;
  }

  /** Returns the content, or undefined when no row has the id. */
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
          ? this.#verified.open(referenceBlob(row), part)
          : Readable.from([slicePart(inline, part)], { objectMode: false }),
    };
  }

  /** Reads the whole content into memory: only for content with a size limit. */
  async read(contentId: string): Promise<Buffer | undefined> {
    const row = await find(this.#database.read, contentId);
    if (!row) return undefined;
    if (row.inline !== null) return Buffer.from(row.inline);
    return buffer(await this.#verified.open(referenceBlob(row)));
  }

  /** Reads the last bytes of the content, at most `bytesMax`. */
  async readTail(contentId: string, bytesMax: number): Promise<Buffer | undefined> {
    const content = await this.find(contentId);
    if (!content) return undefined;
    if (content.bytes <= bytesMax) return this.read(contentId);
    return buffer(await content.open({ from: content.bytes - bytesMax, to: content.bytes - 1 }));
  }

  /** Deletes the rows in the caller's transaction. Returns the keys of blobs to pass to `removeBlobs` after the commit. */
  async remove(tx: Writer, contentIds: readonly (string | null)[]): Promise<string[]> {
    const ids = contentIds.filter((id) => id !== null);
    const keys: string[] = [];
    for (const batch of splitIntoBatches(ids)) {
      const rows = await tx.deleteFrom('contents').where('id', 'in', batch).returning('blob_key').execute();
      keys.push(...rows.flatMap((row) => row.blob_key ?? []));
    }
    return keys;
  }

  /** Removes those of the blobs that no row names and no backup holds. */
  async removeBlobs(keys: readonly string[]): Promise<void> {
    for (const key of keys) if (await this.#isFree(key)) await this.#blobs.remove(key);
  }

  /**
   * Moves blobs without a row to the trash, and purges those that have been there for a week. Does nothing unless the database
   * certainly belongs to the blobs. Returns the number of moved blobs.
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
   * Reads rows first and holds second. A backup acquires its hold first and reads rows second. A backup whose hold this
   * process does not see therefore reads no row with the blob.
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

function referenceBlob({ blob_key, bytes, sha256 }: ContentsTable): ReferencedBlob {
  return { key: blob_key ?? '', bytes, sha256 };
}

function slicePart(inline: Uint8Array, part?: BlobRange | null): Buffer {
  const all = Buffer.from(inline);
  return part ? all.subarray(part.from, part.to + 1) : all;
}

const insertContent = prepareStatement((db, row: ContentsTable) => db.insertInto('contents').values(row));

async function insert(tx: Writer, row: ContentsTable): Promise<void> {
  await insertContent(tx, row);
}

/** Inserts a row with the same content under the id. Throws ContentRemovedError when the content does not exist any more. */
async function insertCopy(tx: Writer, contentId: string, id: string): Promise<void> {
  const query = tx.selectFrom('contents').selectAll().where('id', '=', contentId);
  const row = await locked(tx, query, 'share').executeTakeFirst();
  if (!row) throw new ContentRemovedError(`The content ${contentId} no longer exists.`);
  await insert(tx, { ...row, id });
}

function find(db: Reader, id: string) {
  return db.selectFrom('contents').selectAll().where('id', '=', id).executeTakeFirst();
}
