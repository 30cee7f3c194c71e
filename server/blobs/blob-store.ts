/**
 * Where large content lies: disk or an object store. A blob is written once under a key of ours and never changed;
 * nothing of it is visible before it is whole and durable. A blob that no row names moves to the trash, where it stays
 * readable under its key until it is purged.
 */
import type { Readable } from 'node:stream';

export interface StoredBlob {
  key: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** The content was longer than the caller allowed; nothing was kept. */
export class TooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`The content has more than ${bytesMax} bytes.`);
    this.bytesMax = bytesMax;
  }
}

/** There is no such blob, not in the trash either. */
export class BlobMissingError extends Error {
  constructor(key: string, cause?: unknown) {
    super(`There is no blob ${key}.${cause instanceof Error ? ` ${cause.message}` : ''}`, { cause });
  }
}

/** The folder of the blobs is not there any more, as after an unmount. */
export class StoreUnavailableError extends Error {
  constructor(folder: string, cause: unknown) {
    super(`The blob folder ${folder} is gone.`, { cause });
  }
}

/** Bytes of a blob, both ends included; the blob has them. */
export interface BlobRange {
  from: number;
  to: number;
}

interface BlobState {
  bytes: number;
  writtenAt: number;
  /** Changes whenever the store notices that the content was written again. */
  version: string;
}

/** Lies beside the blobs and says whose they are. */
export interface InstallationMarker {
  /** The id of the installation. */
  installation: string;
  generation: number;
  /** An operator has said that the blobs are lost and the installation goes on without them. */
  mayBeEmpty: boolean;
}

/** What can be done without changing anything. */
export interface BlobReader {
  /** The blob, or the part of it, also from the trash. Throws BlobMissingError. */
  open(key: string, part?: BlobRange | null): Promise<Readable>;
  /** null when there is no such blob outside the trash. */
  stat(key: string): Promise<BlobState | null>;
  /** Keys of blobs last written before the instant, without those in the trash. */
  list(writtenBefore: number): AsyncIterable<string>;
  /** Keys of blobs that were moved to the trash before the instant. */
  listTrash(movedBefore: number): AsyncIterable<string>;
  /** null when there is none. */
  readMarker(): Promise<InstallationMarker | null>;
}

export interface BlobStore extends BlobReader {
  /** As that of a reader, for a blob that a row names: it does not belong into the trash and is moved back. */
  open(key: string, part?: BlobRange | null): Promise<Readable>;
  /** Resolves once the blob is whole and durable; throws TooLargeError beyond `bytesMax`, or what the source threw. */
  put(key: string, source: Readable, bytesMax: number): Promise<StoredBlob>;
  /** Does nothing when there is no such blob. */
  remove(key: string): Promise<void>;
  /** Moves the blob to the trash; does nothing when there is no such blob. */
  moveToTrash(key: string, now: number): Promise<void>;
  /** Moves the blob back from the trash; returns false when it is not there. */
  restore(key: string): Promise<boolean>;
  /** Removes the blob from the trash; does nothing when it is not there. */
  purge(key: string): Promise<void>;
  /** `isFirst`: throws MarkerTakenError when there is a marker already. */
  writeMarker(marker: InstallationMarker, options?: { isFirst?: boolean }): Promise<void>;
  removeMarker(): Promise<void>;
}

/** Opens a blob that a row names, and moves it back first when it is in the trash. */
export async function openOrRestore(
  open: () => Promise<Readable>,
  restore: () => Promise<unknown>,
): Promise<Readable> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof BlobMissingError)) throw error;
    // Another reader may have moved it back meanwhile, so that it is opened again either way.
    await restore();
    return open();
  }
}

/** Another installation was quicker. */
export class MarkerExistsError extends Error {}

/** Has characters that no key has. */
export const MARKER_FILE = 'installation.json';
/** Begins with a character that neither a key nor a prefix of a bucket begins with. */
export const TRASH_FOLDER = '.trash';

export function formatMarker(marker: InstallationMarker): string {
  const note = 'Says which Switchyard installation these blobs belong to. Do not remove or copy it.';
  return `${JSON.stringify({ ...marker, note }, null, 2)}\n`;
}

/** Throws for a text that is no marker: then nobody knows whose the blobs are. */
export function parseMarker(text: string, where: string): InstallationMarker {
  try {
    const { installation, generation, mayBeEmpty } = JSON.parse(text) as Partial<InstallationMarker>;
    if (typeof installation === 'string' && installation !== '' && Number.isSafeInteger(generation))
      return { installation, generation: generation as number, mayBeEmpty: mayBeEmpty === true };
  } catch {}
  throw new Error(`${where} is damaged: it must name an installation; restore it from a backup or remove it`);
}
