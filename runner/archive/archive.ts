/** Reads gzip tars: to look at a push, and to unpack executables and inputs. Never holds more than one entry's chunk. */
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

export interface ArchiveContents {
  /** SHA-256 of the archive's bytes, hex. */
  hash: string;
  entries: number;
  unpackedBytes: number;
  /** Text of `app.yaml` at the root; absent when there is none. */
  manifestText?: string;
  /** Paths of files and links, in the archive's order. */
  files: string[];
  /** Compiled files, by path. */
  programs: Map<string, ProgramFormat>;
}

export interface UnpackedArchive {
  hash: string;
  entries: ArchiveEntry[];
  unpackedBytes: number;
}

const MANIFEST = 'app.yaml';
/**
 * Headers and padding come on top of what the files hold, so much at the end of the archive and so much for each entry.
 * Beyond it the archive is empty bytes, or headers that are costly to read and never become an entry.
 */
const OVERHEAD_BYTES = 2 * 1024 ** 2;
const ENTRY_OVERHEAD_BYTES = 2048;

/** Tars from before POSIX have no mark of their format; their checksum is mark enough. */
const TAR_OPTIONS = { highWaterMark: 64 * 1024, allowUnknownFormat: true };

type EntryBody = AsyncIterable<Uint8Array>;
type Visit = (entry: ArchiveEntry, body: EntryBody) => Promise<void>;

/** Reads a pushed archive to its end without unpacking it. Throws ArchiveRefused with a sentence naming the entry. */
export async function inspectArchive(stream: Readable): Promise<ArchiveContents> {
  const manifest: Uint8Array[] = [];
  let hasManifest = false;
  const programs = new Map<string, ProgramFormat>();
  const { rules, hash } = await readArchive(stream, async (entry, body) => {
    if (entry.kind !== 'file') return;
    if (entry.path !== MANIFEST) {
      const format = entry.size < FORMAT_HEAD_BYTES ? undefined : detectProgramFormat(await headOf(body));
      if (format) programs.set(entry.path, format);
      // Of two entries of one name the second counts.
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
  const files = [...rules.entries.values()]
    .filter((entry) => entry.kind !== 'directory')
    .map((entry) => entry.path);
  return {
    hash,
    entries: rules.count,
    unpackedBytes: rules.unpackedBytes,
    ...(hasManifest ? { manifestText: Buffer.concat(manifest).toString('utf8') } : {}),
    files,
    programs,
  };
}

/** The first bytes of an entry. The rest stays in the stream, which is not ended. */
async function headOf(body: EntryBody): Promise<Buffer> {
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
 * Unpacks below `folder`, which exists and is empty. On a refusal what was written so far stays: the caller removes
 * the folder. Files come out readable for all and, where the archive says so, executable for all; owners and other
 * mode bits of the archive are ignored.
 */
export async function unpackArchive(stream: Readable, folder: string): Promise<UnpackedArchive> {
  const made = new Set<string>(['.']);
  const ensure = async (path: string): Promise<void> => {
    if (made.has(path)) return;
    await ensure(dirname(path));
    await mkdir(join(folder, path)).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
    await chmod(join(folder, path), 0o755);
    made.add(path);
  };
  const written = new Set<string>();
  const { rules, hash } = await readArchive(stream, async (entry, body) => {
    if (entry.kind === 'directory') return await ensure(entry.path);
    if (entry.kind === 'symlink') return;
    await ensure(dirname(entry.path));
    const path = join(folder, entry.path);
    if (written.has(entry.path)) await rm(path);
    written.add(entry.path);
    if (entry.kind === 'hardlink') return await link(join(folder, entry.target ?? ''), path);
    await pipeline(body, createWriteStream(path, { flags: 'wx' }));
    await chmod(path, entry.executable ? 0o755 : 0o644);
  });
  const entries = [...rules.entries.values()];
  for (const entry of entries) {
    if (entry.kind !== 'symlink') continue;
    await ensure(dirname(entry.path));
    await symlink(entry.target ?? '', join(folder, entry.path));
  }
  return { hash, entries, unpackedBytes: rules.unpackedBytes };
}

async function readArchive(
  stream: Readable,
  visit: Visit,
): Promise<{ rules: ArchiveValidator; hash: string }> {
  const sha = createHash('sha256');
  const rules = new ArchiveValidator();
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sha.update(chunk);
      done(null, chunk);
    },
  });
  let raw = 0;
  let expected = OVERHEAD_BYTES;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      raw += chunk.byteLength;
      if (raw > expected)
        done(
          new InvalidArchiveError(
            `The archive unpacks to more than ${expected} bytes, which is more than its entries hold.`,
          ),
        );
      else done(null, chunk);
    },
  });
  const tar = extract(TAR_OPTIONS);
  const flow = pipeline(stream, tap, createGunzip(), count, tar);
  // The first error may come from either side; the flow's own copy of it is looked at below.
  flow.catch(() => undefined);
  try {
    for await (const body of tar) {
      const entry = rules.accept(body.header);
      expected += ENTRY_OVERHEAD_BYTES + (entry?.kind === 'file' ? entry.size : 0);
      if (entry !== undefined) await visit(entry, body as unknown as EntryBody);
      body.resume();
    }
    await flow;
    rules.finish();
  } catch (error) {
    stream.destroy();
    throw asRefusal(error);
  }
  if (raw === 0) throw new InvalidArchiveError('The archive is empty; a gzip-compressed tar is wanted.');
  return { rules, hash: sha.digest('hex') };
}

function asRefusal(error: unknown): unknown {
  if (error instanceof InvalidArchiveError) return error;
  if (isErrno(error, 'Z_DATA_ERROR')) {
    return new InvalidArchiveError(
      `The archive is not gzip, or damaged (${getErrorMessage(error)}); a gzip-compressed tar is wanted.`,
    );
  }
  if (isErrno(error, 'Z_BUF_ERROR'))
    return new InvalidArchiveError('The archive is cut short: its gzip stream does not end.');
  if (error instanceof Error && error.message === 'Unexpected end of data') {
    return new InvalidArchiveError('The archive is cut short: its last entry is not complete.');
  }
  if (error instanceof Error && /tar header|Invalid header|max size|pax/i.test(error.message)) {
    return new InvalidArchiveError('The archive is gzip, but what it holds is no tar.');
  }
  return error;
}
