/**
 * Takes what an app left in its folder. By now nothing of the app runs, but what it left may be hostile: only regular
 * files that belong to the run are read, by descriptor and through no link (filesystem/untrusted-files.ts). What is handed out lies in
 * `results/`, where no app can write.
 */
import { isUtf8 } from 'node:buffer';
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
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
import { formatBytes } from '../process/format.ts';
import type { EndedRun, ResultFile, RunSpec } from '../types.ts';
import { ARCHIVE_LIMITS, InvalidArchiveError, normalizeRelativePath, truncateName } from './archive-rules.ts';
import { resolveContentPaths } from './content-paths.ts';
import type { CachedExecutable } from './executable-cache.ts';

const COMPARE_BYTES = 256 * 1024;
const PAUSE_AFTER_FILES = 100;

/** Whose files are taken. */
export interface ResultSource {
  folder: RunFolder;
  /** On a disk of the run, where what was written may be lost later; before it is read it is written out. */
  isOnRunDisk: boolean;
  /** The user id of the run. A file of another user is a hard link to a file of the host. */
  owner: number;
}

/** The owner of the app's files: the user of the run, or the one that its folder was made by. */
export async function findFileOwner({ work }: RunFolder, user: number | undefined): Promise<number> {
  return user ?? (await stat(work)).uid;
}

interface Taking {
  source: ResultSource;
  job: RunSpec;
  executable: CachedExecutable;
  workingDirectory: string;
}

/** Takes the results that the job's formats name. Results that are refused fail a run that had succeeded. */
export async function collectResults(
  ended: EndedRun,
  { source, job, executable, workingDirectory }: Taking,
): Promise<void> {
  const content = resolveContentPaths(job);
  const below = (path: string): string => (workingDirectory === '' ? path : `${workingDirectory}/${path}`);
  const fail = (error: string): void => {
    if (!ended.succeeded) return;
    ended.succeeded = false;
    ended.reason = 'output';
    ended.error = error;
  };
  const most = job.limits.outputBytes;
  const refuse = (name: string, bytes: number): void =>
    fail(`The app's ${name} take ${formatBytes(bytes)}; the limit is ${formatBytes(most)}.`);
  if (content.solutionsPath !== undefined) {
    const { fileBytes } = job.limits;
    const solutions = await packSolutions(source, below(content.solutionsPath), executable, fileBytes);
    if (solutions !== undefined && 'path' in solutions) {
      ended.solutions = solutions;
      if (solutions.bytes > most) refuse('solutions', solutions.bytes);
    } else if (solutions !== undefined) fail(solutions.refused);
  }
  for (const name of ['statistics', 'metrics', 'assets'] as const) {
    let file: Awaited<ReturnType<typeof copyResultFile>>;
    for (const path of [content[`${name}Path`], content.fallbackPaths?.[`${name}Path`]])
      if (path !== undefined) file ??= await copyResultFile(source, below(path), name, most);
    if (file === undefined) continue;
    if ('path' in file) ended[name] = file;
    else refuse(name, file.tooLong);
  }
}

/**
 * Copies a regular file of the working copy to `results/<name>`. Returns undefined when there is none, and only its
 * size when it has more than `most` bytes.
 */
export async function copyResultFile(
  { folder, owner, isOnRunDisk: onDisk }: ResultSource,
  path: string,
  name: string,
  most: number,
): Promise<ResultFile | { tooLong: number } | undefined> {
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
    if (bytes > most) return { tooLong: bytes };
    if (onDisk) await file.sync();
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

/**
 * Packs the files below a folder of the working copy that the executable did not bring along unchanged, as a gzip tar
 * without a wrapping folder. Undefined when there are none; only a sentence when they are more than an archive may hold
 * that is an input, or have names that no text can say.
 *
 * @param path of the folder, relative to the root of the working copy.
 * @param most bytes that are read; a file of holes takes no space and is as long as it says.
 */
export async function packSolutions(
  source: ResultSource,
  path: string,
  executable: CachedExecutable,
  most: number,
): Promise<ResultFile | { refused: string } | undefined> {
  const root = await openFolder(source.folder.work, path);
  if (root === undefined) return undefined;
  try {
    const files = await listChanged(root, source.owner, path, executable);
    if (files.length === 0) return undefined;
    const length = files.reduce((sum, file) => sum + file.bytes, 0);
    if (length > most) {
      return {
        refused: `The app's solutions are ${formatBytes(length)} long; the limit is ${formatBytes(most)}.`,
      };
    }
    await mkdir(source.folder.results, { recursive: true, mode: 0o700 });
    const target = join(source.folder.results, 'solutions.tar.gz');
    await packFiles(root, source, files, target);
    return { path: target, bytes: (await stat(target)).size };
  } catch (error) {
    if (!(error instanceof InvalidArchiveError || error instanceof FileShrunkError)) throw error;
    return { refused: `The app's solutions cannot be packed: ${error.message}` };
  } finally {
    await root.handle.close();
  }
}

interface Found {
  /** Relative to the folder of solutions. */
  path: string;
  bytes: number;
}

/** Regular files of the owner, at any depth. Throws ArchiveRefused for a path no archive may hold. */
async function listChanged(
  root: OpenFolder,
  owner: number,
  place: string,
  executable: CachedExecutable,
): Promise<Found[]> {
  const files: Found[] = [];
  let seen = 0;
  const look = async (folder: OpenFolder, name: string, path: string): Promise<void> => {
    seen += 1;
    // Looking is quick; others get their turn all the same.
    if (seen % PAUSE_AFTER_FILES === 0) await new Promise((resolve) => setImmediate(resolve));
    const bytes = readFileSize(folder, name, owner);
    if (bytes === undefined) return;
    const shipped = originalOf(`${place}/${path}`, bytes, executable);
    if (shipped !== undefined && (await isSame(folder, name, owner, shipped))) return;
    if (files.push({ path, bytes }) > ARCHIVE_LIMITS.entries)
      throw new InvalidArchiveError(`They are more than ${ARCHIVE_LIMITS.entries} files.`);
  };
  const walk = async (folder: OpenFolder, relative: string): Promise<void> => {
    const listed = descriptorPath(folder.handle.fd, folder.path);
    for (const entry of await readdir(listed, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory() && !entry.isFile()) continue;
      const name = entry.name.toString();
      const path = relative === '' ? name : `${relative}/${name}`;
      if (!isUtf8(entry.name))
        throw new InvalidArchiveError(`The name of "${truncateName(path)}" is not UTF-8.`);
      normalizeRelativePath(path);
      if (entry.isFile()) {
        await look(folder, name, path);
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
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function packFiles(
  root: OpenFolder,
  { owner, isOnRunDisk: onDisk }: ResultSource,
  files: Found[],
  target: string,
): Promise<void> {
  const tar = pack();
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600 });
  const written = pipeline(tar, createGzip({ level: constants.Z_BEST_SPEED }), output);
  written.catch((error: Error) => tar.destroy(error));
  let open: { path: string; folder: OpenFolder } | undefined;
  try {
    for (const { path, bytes } of files) {
      const above = dirname(path);
      if (open?.path !== above) {
        await open?.folder.handle.close();
        open = undefined;
        const folder = await openFolder(`${descriptorPath(root.handle.fd, root.path)}/.`, above);
        if (folder === undefined)
          throw new FileShrunkError(`"${truncateName(path)}" was removed while it was read.`);
        open = { path: above, folder };
      }
      const file = await openOwnedFile(open.folder, path.slice(path.lastIndexOf('/') + 1), owner);
      if (file === undefined)
        throw new FileShrunkError(`"${truncateName(path)}" was removed while it was read.`);
      try {
        if (onDisk && bytes > 0) await file.sync();
        const { mtime, mode } = await file.stat();
        // No more than the size that was counted against the limit, however long the file is by now.
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
    tar.destroy(error as Error);
    await written.catch(() => undefined);
    await rm(target, { force: true });
    throw error;
  } finally {
    await open?.folder.handle.close();
  }
}

/** The file of the executable with this path and size, if it has one. */
function originalOf(path: string, bytes: number, executable: CachedExecutable): string | undefined {
  const clean = splitPath(path).join('/');
  const shipped = executable.entriesByPath.get(clean);
  if (shipped === undefined || (shipped.kind !== 'file' && shipped.kind !== 'hardlink')) return undefined;
  return bytes === shipped.size ? join(executable.folder, 'root', clean) : undefined;
}

async function isSame(folder: OpenFolder, name: string, owner: number, shipped: string): Promise<boolean> {
  const file = await openOwnedFile(folder, name, owner);
  if (file === undefined) return false;
  try {
    const original = await open(shipped, 'r');
    try {
      return await sameBytes(file, original);
    } finally {
      await original.close();
    }
  } finally {
    await file.close();
  }
}

async function sameBytes(one: FileHandle, other: FileHandle): Promise<boolean> {
  for (let at = 0; ; at += COMPARE_BYTES) {
    const left = await readAt(one, at);
    const right = await readAt(other, at);
    if (!left.equals(right)) return false;
    if (left.length < COMPARE_BYTES) return true;
  }
}

async function readAt(handle: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(COMPARE_BYTES), 0, COMPARE_BYTES, at);
  return buffer.subarray(0, bytesRead);
}
