/**
 * Takes what an app left in its folder. By now nothing of the app runs, but what it left may be hostile: links are
 * never followed, in no part of a path, and only plain files are read.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { ARCHIVE_LIMITS, ArchiveRefused, cut, safePath } from './archive-rules.ts';
import type { CachedExecutable } from './executables.ts';
import type { RunFolder } from './run-folder.ts';
import { bytesInWords } from './sentences.ts';
import type { ResultFile } from './types.ts';

const COMPARE_BYTES = 256 * 1024;

/** A plain file below `base`, reached without a link; undefined when there is none. */
export async function plainFile(base: string, path: string): Promise<ResultFile | undefined> {
  let at = base;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  for (const [place, part] of parts.entries()) {
    at = join(at, part);
    const info = await lstat(at).catch(() => undefined);
    const isLast = place === parts.length - 1;
    if (info === undefined || (isLast ? !info.isFile() : !info.isDirectory())) return undefined;
    if (isLast) {
      await makeReadable(at);
      return { path: at, bytes: info.size };
    }
  }
  return undefined;
}

/**
 * Packs the files below a folder of the working copy that the executable did not bring along unchanged, as a gzip tar
 * without a wrapping folder. Undefined when there are none; only a sentence when they are more than an archive may hold
 * that is an input, or have names that no text can say.
 *
 * @param path of the folder, relative to the root of the working copy.
 * @param most bytes that are read; a file of holes takes no space and is as long as it says.
 */
export async function packSolutions(
  folder: RunFolder,
  path: string,
  executable: CachedExecutable,
  most: number,
): Promise<ResultFile | { refused: string } | undefined> {
  if (!(await isPlainFolder(folder.work, path))) return undefined;
  const files: string[] = [];
  let length = 0;
  try {
    for (const file of await listFiles(join(folder.work, path))) {
      const source = join(folder.work, path, file);
      await makeReadable(source);
      if (await isUnchanged(folder, `${path}/${file}`, executable)) continue;
      if (files.push(file) > ARCHIVE_LIMITS.entries)
        throw new ArchiveRefused(`They are more than ${ARCHIVE_LIMITS.entries} files.`);
      length += (await lstat(source)).size;
    }
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    return { refused: `The app's solutions cannot be packed: ${error.message}` };
  }
  if (files.length === 0) return undefined;
  if (length > most) {
    return {
      refused: `The app's solutions are ${bytesInWords(length)} long; the limit is ${bytesInWords(most)}.`,
    };
  }
  await mkdir(folder.results, { recursive: true });
  const target = join(folder.results, 'solutions.tar.gz');
  const tar = pack();
  const written = pipeline(tar, createGzip({ level: constants.Z_BEST_SPEED }), createWriteStream(target));
  written.catch((error: Error) => tar.destroy(error));
  for (const file of files.sort()) {
    const source = join(folder.work, path, file);
    const { size, mtime, mode } = await lstat(source);
    const entry = tar.entry({ name: file, size, mtime, mode: mode & 0o777 });
    // Of a file that is sparse or huge only `size` bytes are promised, so no more are read.
    if (size === 0) entry.end(Buffer.alloc(0));
    else await pipeline(createReadStream(source, { end: size - 1 }), entry);
  }
  tar.finalize();
  await written;
  return { path: target, bytes: (await stat(target)).size };
}

/** An app may take the right to read a file from its owner, which on many hosts is us. */
async function makeReadable(file: string): Promise<void> {
  const { mode } = await lstat(file);
  if ((mode & 0o400) === 0) await chmod(file, (mode & 0o777) | 0o400);
}

async function isPlainFolder(base: string, path: string): Promise<boolean> {
  let at = base;
  for (const part of path.split('/').filter((one) => one !== '' && one !== '.')) {
    at = join(at, part);
    if (!(await lstat(at).catch(() => undefined))?.isDirectory()) return false;
  }
  return true;
}

/** Plain files below a folder, at any depth, by their path relative to it. Throws ArchiveRefused for a path no archive may hold. */
async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (relative: string): Promise<void> => {
    const entries = await readdir(join(root, relative), { withFileTypes: true, encoding: 'buffer' });
    for (const entry of entries) {
      const isFolder = entry.isDirectory();
      if (!isFolder && !entry.isFile()) continue;
      const name = entry.name.toString();
      const path = relative === '' ? name : `${relative}/${name}`;
      if (!isUtf8(entry.name)) throw new ArchiveRefused(`The name of "${cut(path)}" is not UTF-8.`);
      safePath(path);
      if (isFolder) await walk(path);
      else files.push(path);
    }
  };
  await walk('');
  return files;
}

async function isUnchanged(folder: RunFolder, path: string, executable: CachedExecutable): Promise<boolean> {
  const clean = path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  const shipped = executable.byPath.get(clean);
  if (shipped === undefined || (shipped.kind !== 'file' && shipped.kind !== 'hardlink')) return false;
  const now = join(folder.work, clean);
  if ((await lstat(now)).size !== shipped.size) return false;
  return await sameBytes(now, join(executable.folder, 'root', clean));
}

async function sameBytes(one: string, other: string): Promise<boolean> {
  const a = await open(one, 'r');
  const b = await open(other, 'r');
  try {
    for (let at = 0; ; at += COMPARE_BYTES) {
      const left = await readAt(a, at);
      const right = await readAt(b, at);
      if (!left.equals(right)) return false;
      if (left.length < COMPARE_BYTES) return true;
    }
  } finally {
    await a.close();
    await b.close();
  }
}

async function readAt(handle: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(COMPARE_BYTES), 0, COMPARE_BYTES, at);
  return buffer.subarray(0, bytesRead);
}
