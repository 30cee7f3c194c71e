/**
 * The interface of stores for large content, on a disk or in an object store. A blob is written once under a generated key
 * and never changes; it is visible only when it is whole and durable. A blob without a row moves to the trash and stays
 * readable under its key until the clean-up purges it.
 */
import type { Readable } from 'node:stream';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';

/** A blob right after it was written. */
export interface StoredBlob {
  key: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** Returns true for a key as a server generates it. No other key becomes a path or the address of an object. */
export function isBlobKey(key: string): boolean {
  return /^[a-z0-9-]{1,128}$/.test(key);
}

/** The content was longer than the caller allowed; the store has nothing of it. */
export class TooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`The content has more than ${bytesMax} bytes.`);
    this.bytesMax = bytesMax;
  }
}

/** The store has no such blob, and none in the trash. */
export class BlobMissingError extends Error {
  constructor(key: string, cause?: unknown) {
    super(`There is no blob ${key}.${cause instanceof Error ? ` ${cause.message}` : ''}`, { cause });
  }
}

/** Throws BlobMissingError for a key that could be a path. A restored backup decides about the keys in the database. */
export function checkBlobKey(key: string): string {
  if (!isBlobKey(key)) throw new BlobMissingError(key);
  return key;
}

/** The folder of the blobs has disappeared, for example by an unmount. */
export class StoreUnavailableError extends Error {
  constructor(folder: string, cause: unknown) {
    super(`The blob folder ${folder} is missing. Mount its share again, or restore the folder.`, { cause });
  }
}

/** A range of bytes inside a blob, both ends included. */
export interface BlobRange {
  from: number;
  to: number;
}

interface BlobState {
  bytes: number;
  /** In milliseconds since the epoch, by the clock of the store. */
  writtenAt: number;
  /** Changes when someone writes the content again. */
  version: string;
}

/** Content of the file next to the blobs that names their installation. */
export interface InstallationMarker {
  /** The id of the installation. */
  installation: string;
  /** See `IdentityTable` (schema.ts). */
  generation: number;
  /** true: an operator confirmed that the blobs are lost and that the installation continues without them. */
  mayBeEmpty: boolean;
}

/** The read-only part of a store. */
export interface BlobReader {
  /** Opens the blob, or the part of it, also from the trash. Throws BlobMissingError. */
  open(key: string, part?: BlobRange | null): Promise<Readable>;
  /** Returns null when there is no such blob outside the trash. */
  stat(key: string): Promise<BlobState | null>;
  /** Yields the keys of blobs written before the instant, without those in the trash. */
  list(writtenBefore: number): AsyncIterable<string>;
  /** Yields the keys of blobs that moved to the trash before the instant. */
  listTrash(movedBefore: number): AsyncIterable<string>;
  /** Returns null when there is no marker. Throws when it is damaged. */
  readMarker(): Promise<InstallationMarker | null>;
}

/** A store of blobs of one installation. */
export interface BlobStore extends BlobReader {
  /** Opens a blob that a row names; moves it back first when it is in the trash. Throws BlobMissingError. */
  open(key: string, part?: BlobRange | null): Promise<Readable>;
  /** Resolves once the blob is whole and durable. Throws TooLargeError beyond `bytesMax`, or the error of the source. */
  put(key: string, source: Readable, bytesMax: number): Promise<StoredBlob>;
  /** Does nothing when there is no such blob. */
  remove(key: string): Promise<void>;
  /** Moves the blob to the trash; does nothing when there is no such blob. */
  moveToTrash(key: string, now: number): Promise<void>;
  /** Moves the blob back from the trash; returns false when it is not there. */
  restore(key: string): Promise<boolean>;
  /** Removes the blob from the trash; does nothing when it is not there. */
  purge(key: string): Promise<void>;
  /** With `isFirst`, throws MarkerExistsError when there is a marker already. */
  writeMarker(marker: InstallationMarker, options?: { isFirst?: boolean }): Promise<void>;
  removeMarker(): Promise<void>;
}

const parseFields = createJsonParser(
  Type.Object({
    installation: Type.String(),
    generation: Type.Number(),
    mayBeEmpty: Type.Optional(Type.Unknown()),
  }),
);

/** Opens a blob that a row names, and moves it back first when it is in the trash. */
export async function openOrRestore(
  open: () => Promise<Readable>,
  restore: () => Promise<unknown>,
): Promise<Readable> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof BlobMissingError)) throw error;
    // Another reader may have moved it back meanwhile, so the second attempt does not depend on the result.
    await restore();
    return open();
  }
}

/** Another installation wrote its marker first. */
export class MarkerExistsError extends Error {}

/** Name of the marker; it has characters that no key has. */
export const MARKER_FILE = 'installation.json';
/** Name of the trash; neither a key nor the prefix of a bucket begins with its first character. */
export const TRASH_FOLDER = '.trash';

/** Returns the content of the marker file: JSON with a note for people. */
export function formatMarker(marker: InstallationMarker): string {
  const note = 'Says which Switchyard installation these blobs belong to. Do not remove or copy it.';
  return `${JSON.stringify({ ...marker, note }, null, 2)}\n`;
}

/** Parses a marker file. Throws when the text names no installation; `where` names the file in the error. */
export function parseMarker(text: string, where: string): InstallationMarker {
  try {
    const { installation, generation, mayBeEmpty } = parseFields(text, where);
    if (installation !== '' && Number.isSafeInteger(generation))
      return { installation, generation, mayBeEmpty: mayBeEmpty === true };
  } catch {}
  throw new Error(`${where} is damaged: it names no installation. Restore it from a backup, or remove it`);
}
