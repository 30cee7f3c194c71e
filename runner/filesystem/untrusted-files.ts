/**
 * Opens files and folders that an app could write to. The server may have more rights than the app, so a path is never
 * trusted twice: each part is opened by the descriptor of the folder above it and never through a link, and type and
 * owner are checked on the descriptor that is read afterwards. A hard link to a file of the host has another owner than
 * the run, however many links it has by then.
 *
 * On Linux a file is opened without access first (O_PATH), so that pipes and devices are never opened at all. Elsewhere
 * there is neither that nor a path by descriptor; there the runner has no more rights than its apps.
 */
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir } from 'node:fs/promises';
import { isErrno } from '../process/errors.ts';

const LINUX = process.platform === 'linux';
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** The same number on every architecture that Node runs on under Linux. */
const O_PATH = 0o10000000;
const LOOK = LINUX ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
export const OPEN_FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** For files whose folder an app may have replaced: no link, and no waiting for the other end of a pipe. */
export const OPEN_FILE_FLAGS = O_NOFOLLOW | O_NONBLOCK;

/** The path of an open file or folder that stays right whatever becomes of its name. */
export function descriptorPath(fd: number, path: string): string {
  return LINUX ? `/proc/self/fd/${fd}` : path;
}

/** An open folder and its path, which only macOS needs. */
export interface OpenFolder {
  handle: FileHandle;
  path: string;
}

function buildChildPath({ handle, path }: OpenFolder, name: string): string {
  return `${descriptorPath(handle.fd, path)}/${name}`;
}

/**
 * The folder at a path below `base`, or undefined when a part of it is missing, a link or no folder. The caller closes
 * its handle. A folder whose owner may not read it becomes readable.
 */
export async function openFolder(base: string, path: string): Promise<OpenFolder | undefined> {
  let at: OpenFolder = { handle: await open(base, OPEN_FOLDER_FLAGS), path: base };
  for (const part of splitPath(path)) {
    let next: OpenFolder | undefined;
    try {
      next = await openSubfolder(at, part);
    } finally {
      await at.handle.close();
    }
    if (next === undefined) return undefined;
    at = next;
  }
  return at;
}

export async function openSubfolder(folder: OpenFolder, name: string): Promise<OpenFolder | undefined> {
  const path = `${folder.path}/${name}`;
  const handle = await openAs(folder, name, 'folder');
  return handle && { handle, path };
}

/** The regular file of this owner in a folder, open for reading; undefined for anything else. The caller closes it. */
export async function openOwnedFile(
  folder: OpenFolder,
  name: string,
  owner: number,
): Promise<FileHandle | undefined> {
  return await openAs(folder, name, 'file', owner);
}

/** The size of the regular file of this owner, or undefined: openFile without opening it, in microseconds. */
export function readFileSize(folder: OpenFolder, name: string, owner: number): number | undefined {
  let fd: number;
  try {
    fd = openSync(buildChildPath(folder, name), LOOK);
  } catch (error) {
    if (isErrno(error, ...NOT_THERE)) return undefined;
    throw error;
  }
  try {
    const info = fstatSync(fd);
    return info.isFile() && info.uid === owner ? info.size : undefined;
  } finally {
    closeSync(fd);
  }
}

/** What opening says of something that is not what was asked for. */
const NOT_THERE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EOPNOTSUPP'];

async function openAs(
  folder: OpenFolder,
  name: string,
  kind: 'file' | 'folder',
  owner?: number,
): Promise<FileHandle | undefined> {
  const target = buildChildPath(folder, name);
  const access = kind === 'folder' ? O_RDONLY | O_DIRECTORY : O_RDONLY;
  let seen: FileHandle;
  try {
    seen = await open(target, LOOK);
  } catch (error) {
    if (isErrno(error, ...NOT_THERE)) return undefined;
    throw error;
  }
  let keep = false;
  try {
    const info = await seen.stat();
    if (kind === 'folder' ? !info.isDirectory() : !info.isFile()) return undefined;
    if (owner !== undefined && info.uid !== owner) return undefined;
    if (!LINUX) {
      keep = true;
      return seen;
    }
    const itself = descriptorPath(seen.fd, target);
    const needed = kind === 'folder' ? 0o500 : 0o400;
    if ((info.mode & needed) !== needed) await chmod(itself, (info.mode & 0o777) | needed);
    return await open(itself, access);
  } finally {
    if (!keep) await seen.close();
  }
}

/**
 * The descriptor of a folder that is to be emptied, and may be from now on. Throws ENOTDIR or ELOOP for anything else.
 * The folder that the path lies in is ours, or named by its descriptor.
 */
export function openFolderForRemoval(path: Buffer): number {
  if (!LINUX) {
    if (lstatSync(path).isDirectory()) chmodSync(path, 0o700);
    return openSync(path, OPEN_FOLDER_FLAGS);
  }
  const seen = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    const itself = descriptorPath(seen, '');
    if ((fstatSync(seen).mode & 0o700) !== 0o700) chmodSync(itself, 0o700);
    return openSync(itself, O_RDONLY | O_DIRECTORY);
  } finally {
    closeSync(seen);
  }
}

/** The path of what lies in a folder, by its descriptor, with a slash at its end; names need not be UTF-8. */
export function buildFolderPrefix(fd: number, path: Buffer): Buffer {
  return Buffer.concat([LINUX ? Buffer.from(descriptorPath(fd, '')) : path, Buffer.from('/')]);
}

export function splitPath(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** Exactly the first `bytes` of an open file. Throws ShrunkError when it has fewer by now. */
export async function* readExactly(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const length = Math.min(CHUNK_BYTES, bytes - at);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw new FileShrunkError('A file became shorter while it was read.');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const CHUNK_BYTES = 256 * 1024;

/** Somebody still changes what the app left. */
export class FileShrunkError extends Error {
  override name = 'FileShrunkError';
}

/** Paths of files below a folder, relative to it. */
export async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (folder: OpenFolder, relative: string): Promise<void> => {
    for (const entry of await readdir(descriptorPath(folder.handle.fd, folder.path), {
      withFileTypes: true,
    })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isFile()) files.push(path);
      if (!entry.isDirectory()) continue;
      const subfolder = await openSubfolder(folder, entry.name);
      if (subfolder === undefined) continue;
      try {
        await walk(subfolder, path);
      } finally {
        await subfolder.handle.close();
      }
    }
  };
  const top = await openFolder(root, '');
  if (top === undefined) return files;
  try {
    await walk(top, '');
  } finally {
    await top.handle.close();
  }
  return files;
}
