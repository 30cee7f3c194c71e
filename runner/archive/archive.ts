/** Reads gzip tars: inspects pushed archives, and unpacks executables and inputs. Buffers at most one chunk of an entry. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, link, mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { getErrorMessage, isErrno } from '../process/errors.ts';
import { ARCHIVE_LIMITS, type ArchiveEntry, ArchiveValidator, InvalidArchiveError } from './archive-rules.ts';
import { detectProgramFormat, FORMAT_HEAD_BYTES, type ProgramFormat } from './program-format.ts';

/** Result of inspectArchive. */
export interface ArchiveContents {
  /** SHA-256 of the archive's bytes, hex. */
  hash: string;
  entries: number;
  unpackedBytes: number;
  /** Text of `app.yaml` at the root; absent when there is none. */
  manifestText?: string;
  /** Paths of files and links, in the archive's order. */
  files: string[];
  /** Paths of the folders that have an entry of their own. */
  folders: string[];
  /** Compiled programs and libraries, by path. */
  programs: Map<string, ProgramFormat>;
}

/** Result of unpackArchive. */
interface UnpackedArchive {
  hash: string;
  entries: ArchiveEntry[];
  unpackedBytes: number;
}

/** Path of the manifest in an archive. */
export const MANIFEST = 'app.yaml';
/**
 * Allowance for headers and padding beside the content of the entries, per archive and per entry. A larger archive is
 * padded with empty bytes, or has headers that are costly to read and never become an entry.
 */
const OVERHEAD_BYTES = 2 * 1024 ** 2;
const ENTRY_OVERHEAD_BYTES = 2048;

/** Tars from before POSIX have no format mark; their checksum is enough. */
const TAR_OPTIONS = { highWaterMark: 64 * 1024, allowUnknownFormat: true };

type EntryBody = AsyncIterable<Uint8Array>;
type VisitEntry = (entry: ArchiveEntry, body: EntryBody) => Promise<void>;

/** Reads a pushed archive to its end without unpacking it. Throws InvalidArchiveError with the name of the entry. */
export async function inspectArchive(stream: Readable): Promise<ArchiveContents> {
  const manifest: Uint8Array[] = [];
  let hasManifest = false;
  const programs = new Map<string, ProgramFormat>();
  const { validator, hash } = await readArchive(stream, async (entry, body) => {
    if (entry.kind !== 'file') return;
    if (entry.path !== MANIFEST) {
      const format = entry.size < FORMAT_HEAD_BYTES ? undefined : detectProgramFormat(await readHead(body));
      if (format) programs.set(entry.path, format);
      // Of two entries with the same name the second one counts.
      else programs.delete(entry.path);
      return;
    }
    if (entry.size > ARCHIVE_LIMITS.manifestBytes) {
      throw new InvalidArchiveError(
        `${MANIFEST} has ${entry.size} bytes; it may have at most ${ARCHIVE_LIMITS.manifestBytes}.`,
      );
    }
    hasManifest = true;
    manifest.length = 0;
    for await (const chunk of body) manifest.push(chunk);
  });
  const files: string[] = [];
  const folders: string[] = [];
  for (const { kind, path } of validator.entries.values())
    (kind === 'directory' ? folders : files).push(path);
  return {
    hash,
    entries: validator.count,
    unpackedBytes: validator.unpackedBytes,
    ...(hasManifest ? { manifestText: Buffer.concat(manifest).toString('utf8') } : {}),
    files,
    folders,
    programs,
  };
}

/** Returns the first bytes of an entry without ending its stream. */
async function readHead(body: EntryBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const iterator = body[Symbol.asyncIterator]();
  for (let length = 0; length < FORMAT_HEAD_BYTES; ) {
    const { value, done } = await iterator.next();
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
  }
  return Buffer.concat(chunks);
}

/**
 * Unpacks an archive below `folder`, which exists and is empty. Every file becomes readable for all users and, with the
 * executable bit of the archive, executable for all; owners and other mode bits are ignored. Throws InvalidArchiveError
 * and leaves a partial folder, which the caller removes.
 */
export async function unpackArchive(stream: Readable, folder: string): Promise<UnpackedArchive> {
  const created = new Set<string>(['.']);
  const ensureFolder = async (path: string): Promise<void> => {
    if (created.has(path)) return;
    await ensureFolder(dirname(path));
    await mkdir(join(folder, path)).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
    await chmod(join(folder, path), 0o755);
    created.add(path);
  };
  const written = new Set<string>();
  const { validator, hash } = await readArchive(stream, async (entry, body) => {
    if (entry.kind === 'directory') return await ensureFolder(entry.path);
    if (entry.kind === 'symlink') return;
    await ensureFolder(dirname(entry.path));
    const path = join(folder, entry.path);
    if (written.has(entry.path)) await rm(path);
    written.add(entry.path);
    if (entry.kind === 'hardlink') return await link(join(folder, entry.target ?? ''), path);
    await pipeline(body, createWriteStream(path, { flags: 'wx' }));
    await chmod(path, entry.executable ? 0o755 : 0o644);
  });
  const entries = [...validator.entries.values()];
  for (const entry of entries) {
    if (entry.kind !== 'symlink') continue;
    await ensureFolder(dirname(entry.path));
    await symlink(entry.target ?? '', join(folder, entry.path));
  }
  return { hash, entries, unpackedBytes: validator.unpackedBytes };
}

/** Passes each entry of the archive, with its content, to `visitEntry`. Throws InvalidArchiveError. */
export async function readArchive(
  stream: Readable,
  visitEntry: VisitEntry,
): Promise<{ validator: ArchiveValidator; hash: string }> {
  const sha = createHash('sha256');
  const validator = new ArchiveValidator();
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sha.update(chunk);
      done(null, chunk);
    },
  });
  let unpackedBytes = 0;
  let allowedBytes = OVERHEAD_BYTES;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpackedBytes += chunk.byteLength;
      if (unpackedBytes > allowedBytes)
        done(
          new InvalidArchiveError(
            `The archive unpacks to more than ${allowedBytes} bytes, which is more than its entries hold.`,
          ),
        );
      else done(null, chunk);
    },
  });
  const tar = extract(TAR_OPTIONS);
  const flow = pipeline(stream, hashing, createGunzip(), counting, tar);
  // Both the loop and the flow reject with the first error; the await below handles it.
  flow.catch(() => undefined);
  try {
    for await (const body of tar) {
      const entry = validator.accept(body.header);
      allowedBytes += ENTRY_OVERHEAD_BYTES + (entry?.kind === 'file' ? entry.size : 0);
      // A tar stream yields bytes; its types say unknown.
      const chunks: AsyncIterable<unknown> = body;
      if (entry !== undefined) await visitEntry(entry, chunks as EntryBody);
      body.resume();
    }
    await flow;
    validator.finish();
  } catch (error) {
    stream.destroy();
    throw toArchiveError(error);
  }
  if (unpackedBytes === 0) throw new InvalidArchiveError('The archive is empty: send a gzip-compressed tar.');
  return { validator, hash: sha.digest('hex') };
}

function toArchiveError(error: unknown): unknown {
  if (error instanceof InvalidArchiveError) return error;
  if (isErrno(error, 'Z_DATA_ERROR')) {
    return new InvalidArchiveError(
      `The archive is not gzip, or damaged (${getErrorMessage(error)}): send a gzip-compressed tar.`,
    );
  }
  if (isErrno(error, 'Z_BUF_ERROR'))
    return new InvalidArchiveError('The archive is truncated: its gzip stream does not end. Send it again.');
  if (error instanceof Error && error.message === 'Unexpected end of data') {
    return new InvalidArchiveError('The archive is truncated: its last entry is incomplete. Send it again.');
  }
  if (error instanceof Error && /tar header|Invalid header|max size|pax/i.test(error.message)) {
    return new InvalidArchiveError(
      'The archive is gzip, but its content is no tar: send a gzip-compressed tar.',
    );
  }
  return error;
}
