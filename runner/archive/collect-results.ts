/**
 * Collects the results from the app's folder. No process of the app runs any more, but its files may be hostile. It reads
 * only regular files that belong to the run, by descriptor and never through a link (filesystem/untrusted-files.ts). The
 * copies go to `results/`, where no app can write.
 */
import { isUtf8 } from 'node:buffer';
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { formatBinaryBytes, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import { pack } from 'tar-stream';
import type { RunFolder } from '../filesystem/run-folder.ts';
import {
  descriptorPath,
  FileShrunkError,
  type OpenFolder,
  openFolder,
  openOwnedFile,
  openSubfolder,
  readExactly,
  readFileSize,
  splitPath,
} from '../filesystem/untrusted-files.ts';
import type { EndedRun, ResultFile, RunSpec } from '../types.ts';
import { ARCHIVE_LIMITS, InvalidArchiveError, normalizeRelativePath, truncateName } from './archive-rules.ts';
import { resolveContentPaths } from './content-paths.ts';
import type { CachedExecutable } from './executable-cache.ts';

const COMPARE_BYTES = 256 * 1024;
/** Number of files between two pauses of the event loop. */
const FILES_PER_PAUSE = 100;

/** The folders and the owner whose files are collected. */
export interface ResultSource {
  folder: RunFolder;
  /** Files on a disk of the run must be synced before they are read: a later write error could still lose them. */
  isOnRunDisk: boolean;
  /** The user id of the run. A file of another user is a hard link to a file of the host. */
  owner: number;
}

/** Returns the owner of the app's files: the user of the run, or the owner of its folder. */
export async function findFileOwner({ work }: RunFolder, user: number | undefined): Promise<number> {
  return user ?? (await stat(work)).uid;
}

interface Collection {
  source: ResultSource;
  spec: RunSpec;
  executable: CachedExecutable;
  workingDirectory: string;
}

/** Adds the results that the formats of the run name to `ended`. A rejected result fails a run that had succeeded. */
export async function collectResults(
  ended: EndedRun,
  { source, spec, executable, workingDirectory }: Collection,
): Promise<void> {
  const content = resolveContentPaths(spec);
  const toPath = (path: string): string => (workingDirectory === '' ? path : `${workingDirectory}/${path}`);
  const fail = (error: string): void => {
    if (!ended.succeeded) return;
    ended.succeeded = false;
    ended.reason = 'output';
    ended.error = error;
  };
  const maxBytes = spec.limits.outputBytes;
  const failTooLarge = (name: string, bytes: number): void => {
    const [size, limit] = formatSides([bytes, maxBytes], formatBinaryBytes);
    fail(`The app's ${name} take ${size}; the limit is ${limit}.`);
  };
  if (content.solutionsPath !== undefined) {
    const solutions = await packSolutions({
      source,
      path: toPath(content.solutionsPath),
      executable,
      maxBytes: spec.limits.fileBytes,
    });
    if (solutions !== undefined && 'path' in solutions) {
      ended.solutions = solutions;
      if (solutions.bytes > maxBytes) failTooLarge('solutions', solutions.bytes);
    } else if (solutions !== undefined) fail(solutions.error);
  }
  for (const name of ['statistics', 'metrics', 'assets'] as const) {
    let file: Awaited<ReturnType<typeof copyResultFile>>;
    for (const path of [content[`${name}Path`], content.fallbackPaths?.[`${name}Path`]])
      if (path !== undefined) file ??= await copyResultFile({ source, path: toPath(path), name, maxBytes });
    if (file === undefined) continue;
    if ('path' in file) ended[name] = file;
    else failTooLarge(name, file.actualBytes);
  }
}

interface ResultCopy {
  source: ResultSource;
  /** Relative to the root of the working copy. */
  path: string;
  name: string;
  maxBytes: number;
}

/**
 * Copies a regular file of the working copy to `results/<name>`. Returns undefined when there is none, and only its
 * size when it exceeds `maxBytes`.
 */
export async function copyResultFile({
  source,
  path,
  name,
  maxBytes,
}: ResultCopy): Promise<ResultFile | { actualBytes: number } | undefined> {
  const { folder, owner, isOnRunDisk } = source;
  const parts = splitPath(path);
  const last = parts.pop();
  if (last === undefined) return undefined;
  const parent = await openFolder(folder.work, parts.join('/'));
  if (parent === undefined) return undefined;
  let file: FileHandle | undefined;
  try {
    file = await openOwnedFile(parent, last, owner);
    if (file === undefined) return undefined;
    const bytes = (await file.stat()).size;
    if (bytes > maxBytes) return { actualBytes: bytes };
    if (isOnRunDisk) await file.sync();
    await mkdir(folder.results, { recursive: true, mode: 0o700 });
    const target = join(folder.results, name);
    await pipeline(readExactly(file, bytes), createWriteStream(target, { flags: 'wx', mode: 0o600 }));
    return { path: target, bytes };
  } catch (error) {
    if (error instanceof FileShrunkError) return undefined;
    throw error;
  } finally {
    await file?.close();
    await parent.handle.close();
  }
}

/** The files of an executable in the cache. */
export type UnpackedExecutable = Pick<CachedExecutable, 'entriesByPath' | 'folder'>;

interface SolutionsArchive {
  source: ResultSource;
  /** The folder of solutions, relative to the root of the working copy. */
  path: string;
  executable: UnpackedExecutable;
  /** Limit on the sum of the file lengths; a sparse file counts with its full length. */
  maxBytes: number;
}

/**
 * Packs new and changed files of a folder as a gzip tar without a wrapping folder. Returns undefined when there are none,
 * and an error sentence when they exceed the limits of an input archive or have names that are not UTF-8.
 */
export async function packSolutions({
  source,
  path,
  executable,
  maxBytes,
}: SolutionsArchive): Promise<ResultFile | { error: string } | undefined> {
  const root = await openFolder(source.folder.work, path);
  if (root === undefined) return undefined;
  try {
    const files = await listChangedFiles(root, { source, path, executable });
    if (files.length === 0) return undefined;
    const length = files.reduce((sum, file) => sum + file.bytes, 0);
    if (length > maxBytes) {
      const [size, limit] = formatSides([length, maxBytes], formatBinaryBytes);
      return { error: `The app's solutions are ${size} long; the limit is ${limit}.` };
    }
    await mkdir(source.folder.results, { recursive: true, mode: 0o700 });
    const target = join(source.folder.results, 'solutions.tar.gz');
    await packFiles(files, { root, source, target });
    return { path: target, bytes: (await stat(target)).size };
  } catch (error) {
    if (!(error instanceof InvalidArchiveError || error instanceof FileShrunkError)) throw error;
    return { error: `The app's solutions cannot be packed: ${error.message}` };
  } finally {
    await root.handle.close();
  }
}

interface SolutionFile {
  /** Relative to the folder of solutions. */
  path: string;
  bytes: number;
}

/** Lists changed regular files of the owner at any depth. Throws InvalidArchiveError for a path no archive may contain. */
async function listChangedFiles(
  root: OpenFolder,
  { source: { owner }, path: rootPath, executable }: Omit<SolutionsArchive, 'maxBytes'>,
): Promise<SolutionFile[]> {
  const files: SolutionFile[] = [];
  let visited = 0;
  const visitFile = async (folder: OpenFolder, name: string, path: string): Promise<void> => {
    visited += 1;
    if (visited % FILES_PER_PAUSE === 0) await new Promise((resolve) => setImmediate(resolve));
    const bytes = readFileSize(folder, name, owner);
    if (bytes === undefined) return;
    const original = findOriginal(`${rootPath}/${path}`, bytes, executable);
    if (original !== undefined) {
      const file = await openOwnedFile(folder, name, owner);
      if (file !== undefined && (await hasSameContent(file, original))) return;
    }
    if (files.push({ path, bytes }) > ARCHIVE_LIMITS.entries)
      throw new InvalidArchiveError(`They are more than ${ARCHIVE_LIMITS.entries} files.`);
  };
  const walk = async (folder: OpenFolder, relative: string): Promise<void> => {
    const folderPath = descriptorPath(folder.handle.fd, folder.path);
    for (const entry of await readdir(folderPath, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory() && !entry.isFile()) continue;
      const name = entry.name.toString();
      const path = relative === '' ? name : `${relative}/${name}`;
      if (!isUtf8(entry.name))
        throw new InvalidArchiveError(`The name of "${truncateName(path)}" is not UTF-8.`);
      normalizeRelativePath(path);
      if (entry.isFile()) {
        await visitFile(folder, name, path);
        continue;
      }
      const subfolder = await openSubfolder(folder, name);
      if (subfolder === undefined) continue;
      try {
        await walk(subfolder, path);
      } finally {
        await subfolder.handle.close();
      }
    }
  };
  await walk(root, '');
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function packFiles(
  files: SolutionFile[],
  { root, source, target }: { root: OpenFolder; source: ResultSource; target: string },
): Promise<void> {
  const tar = pack();
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600 });
  const written = pipeline(tar, createGzip({ level: constants.Z_BEST_SPEED }), output);
  written.catch((error: Error) => tar.destroy(error));
  let open: { path: string; folder: OpenFolder } | undefined;
  try {
    for (const { path, bytes } of files) {
      const parent = dirname(path);
      if (open?.path !== parent) {
        await open?.folder.handle.close();
        open = undefined;
        const folder = await openFolder(`${descriptorPath(root.handle.fd, root.path)}/.`, parent);
        if (folder === undefined)
          throw new FileShrunkError(`"${truncateName(path)}" was removed while it was read.`);
        open = { path: parent, folder };
      }
      const file = await openOwnedFile(open.folder, path.slice(path.lastIndexOf('/') + 1), source.owner);
      if (file === undefined)
        throw new FileShrunkError(`"${truncateName(path)}" was removed while it was read.`);
      try {
        if (source.isOnRunDisk && bytes > 0) await file.sync();
        const { mtime, mode } = await file.stat();
        // Exactly the size that was checked against the limit, even when the file has grown since.
        const entry = tar.entry({ name: path, size: bytes, mtime, mode: mode & 0o777 });
        if (bytes === 0) entry.end(Buffer.alloc(0));
        else await pipeline(readExactly(file, bytes), entry);
      } finally {
        await file.close();
      }
    }
    tar.finalize();
    await written;
  } catch (error) {
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    await written.catch(() => undefined);
    await rm(target, { force: true });
    throw error;
  } finally {
    await open?.folder.handle.close();
  }
}

/** Returns the path of the executable's file with this path and size, if it has one. */
function findOriginal(path: string, bytes: number, executable: UnpackedExecutable): string | undefined {
  const normalized = splitPath(path).join('/');
  const entry = executable.entriesByPath.get(normalized);
  if (entry === undefined || (entry.kind !== 'file' && entry.kind !== 'hardlink')) return undefined;
  return bytes === entry.size ? join(executable.folder, 'root', normalized) : undefined;
}

/** Compares an open file, which it closes, with the file at a path. */
async function hasSameContent(file: FileHandle, path: string): Promise<boolean> {
  try {
    const original = await open(path, 'r');
    try {
      return await haveSameBytes(file, original);
    } finally {
      await original.close();
    }
  } finally {
    await file.close();
  }
}

async function haveSameBytes(a: FileHandle, b: FileHandle): Promise<boolean> {
  for (let offset = 0; ; offset += COMPARE_BYTES) {
    const left = await readAt(a, offset);
    const right = await readAt(b, offset);
    if (!left.equals(right)) return false;
    if (left.length < COMPARE_BYTES) return true;
  }
}

async function readAt(handle: FileHandle, offset: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(
    Buffer.allocUnsafe(COMPARE_BYTES),
    0,
    COMPARE_BYTES,
    offset,
  );
  return buffer.subarray(0, bytesRead);
}
