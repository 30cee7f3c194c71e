/**
 * Opens files and folders that an app can write. The server may have more rights than the app, so it resolves no
 * path twice. It opens each part by the descriptor of its parent and never through a link, and checks type and owner on the
 * descriptor that it reads afterwards. A hard link to a file of the host has another owner than the run.
 *
 * On Linux a file is first opened without access (O_PATH), so that pipes and devices are never opened. Other systems have
 * neither that nor paths by descriptor; there the runner has no more rights than its apps.
 */
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir } from 'node:fs/promises';
import { isErrno } from '../process/errors.ts';

const LINUX = process.platform === 'linux';
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** The same number on every Linux architecture that Node supports. */
const O_PATH = 0o10000000;
const PROBE_FLAGS = LINUX ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
/** For folders: follow no link. */
export const OPEN_FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** For files in a folder that an app may have replaced: follow no link, and do not wait for the writer of a pipe. */
export const OPEN_FILE_FLAGS = O_NOFOLLOW | O_NONBLOCK;

/** Returns a path of an open file or folder that stays valid when its name changes. */
export function descriptorPath(fd: number, path: string): string {
  return LINUX ? `/proc/self/fd/${fd}` : path;
}

/** An open folder and its path, which only systems without /proc need. */
export interface OpenFolder {
  handle: FileHandle;
  path: string;
}

function buildChildPath({ handle, path }: OpenFolder, name: string): string {
  return `${descriptorPath(handle.fd, path)}/${name}`;
}

/**
 * Opens the folder at a path below `base`, and makes it readable for its owner. Returns undefined when a part of the path
 * is missing, a link or no folder. The caller closes the handle.
 */
export async function openFolder(base: string, path: string): Promise<OpenFolder | undefined> {
  let current: OpenFolder = { handle: await open(base, OPEN_FOLDER_FLAGS), path: base };
  for (const part of splitPath(path)) {
    let next: OpenFolder | undefined;
    try {
      next = await openSubfolder(current, part);
    } finally {
      await current.handle.close();
    }
    if (next === undefined) return undefined;
    current = next;
  }
  return current;
}

/** Opens a folder in an open folder; undefined for anything else. The caller closes the handle. */
export async function openSubfolder(folder: OpenFolder, name: string): Promise<OpenFolder | undefined> {
  const path = `${folder.path}/${name}`;
  const handle = await openEntry(folder, name, { kind: 'folder' });
  return handle && { handle, path };
}

/** Opens a regular file of this owner for reading; undefined for anything else. The caller closes the handle. */
export async function openOwnedFile(
  folder: OpenFolder,
  name: string,
  owner: number,
): Promise<FileHandle | undefined> {
  return await openEntry(folder, name, { kind: 'file', owner });
}

/** Returns the size of a regular file of this owner without opening it, in microseconds; undefined for anything else. */
export function readFileSize(folder: OpenFolder, name: string, owner: number): number | undefined {
  let fd: number;
  try {
    fd = openSync(buildChildPath(folder, name), PROBE_FLAGS);
  } catch (error) {
    if (isErrno(error, ...NOT_FOUND_CODES)) return undefined;
    throw error;
  }
  try {
    const info = fstatSync(fd);
    return info.isFile() && info.uid === owner ? info.size : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Errors of opening something that is missing or of another kind. */
const NOT_FOUND_CODES = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EOPNOTSUPP'];

async function openEntry(
  folder: OpenFolder,
  name: string,
  { kind, owner }: { kind: 'file' | 'folder'; owner?: number },
): Promise<FileHandle | undefined> {
  const target = buildChildPath(folder, name);
  const access = kind === 'folder' ? O_RDONLY | O_DIRECTORY : O_RDONLY;
  let probed: FileHandle;
  try {
    probed = await open(target, PROBE_FLAGS);
  } catch (error) {
    if (isErrno(error, ...NOT_FOUND_CODES)) return undefined;
    throw error;
  }
  let isReturned = false;
  try {
    const info = await probed.stat();
    if (kind === 'folder' ? !info.isDirectory() : !info.isFile()) return undefined;
    if (owner !== undefined && info.uid !== owner) return undefined;
    if (!LINUX) {
      isReturned = true;
      return probed;
    }
    const descriptor = descriptorPath(probed.fd, target);
    const needed = kind === 'folder' ? 0o500 : 0o400;
    if ((info.mode & needed) !== needed) await chmod(descriptor, (info.mode & 0o777) | needed);
    return await open(descriptor, access);
  } finally {
    if (!isReturned) await probed.close();
  }
}

/**
 * Opens a folder whose content is to be removed, and makes it writable for its owner. Throws ENOTDIR or ELOOP for anything
 * else. The parent of the path belongs to this process, or the path names it by descriptor.
 */
export function openFolderForRemoval(path: Buffer): number {
  if (!LINUX) {
    if (lstatSync(path).isDirectory()) chmodSync(path, 0o700);
    return openSync(path, OPEN_FOLDER_FLAGS);
  }
  const probed = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    const descriptor = descriptorPath(probed, '');
    if ((fstatSync(probed).mode & 0o700) !== 0o700) chmodSync(descriptor, 0o700);
    return openSync(descriptor, O_RDONLY | O_DIRECTORY);
  } finally {
    closeSync(probed);
  }
}

/** Returns the path prefix for entries of an open folder, with a final slash. A Buffer, because names need not be UTF-8. */
export function buildFolderPrefix(fd: number, path: Buffer): Buffer {
  return Buffer.concat([LINUX ? Buffer.from(descriptorPath(fd, '')) : path, Buffer.from('/')]);
}

/** Splits a path into its parts, without `.` and empty ones. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** Yields exactly the first `bytes` of an open file. Throws FileShrunkError when it has become shorter. */
export async function* readExactly(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < bytes; ) {
    const length = Math.min(CHUNK_BYTES, bytes - offset);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
    if (bytesRead === 0) throw new FileShrunkError('A file of the app became shorter while it was read.');
    offset += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const CHUNK_BYTES = 256 * 1024;

/** A file of the app became shorter while it was read: something still changes it. */
export class FileShrunkError extends Error {
  override name = 'FileShrunkError';
}

/** Returns the paths of regular files below a folder, relative to it. */
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
