/**
 * Removes what an app left, however it left it: folders nested deeper than a path can be long, and folders that their
 * owner may not read. Nothing of the app lives any more; what changes under our feet is what `rm` still removes beside the
 * entry that it has failed at.
 */
import { randomUUID } from 'node:crypto';
import { chmod, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from './sentences.ts';

/** Far below the longest path of any system (1024 on macOS), with room for a name. */
const LONG_PATH = 600;

/** The folder and everything below it; no error when it is gone already. */
export async function removeAll(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    if (!isErrno(error, 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ENOTEMPTY')) throw error;
    await makeRemovable(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Every folder may be read and written, and what lies too deep has moved to the top. */
async function makeRemovable(root: string): Promise<void> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      folders.push(...(await foldersIn(root, folder)));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
}

async function foldersIn(root: string, found: string): Promise<string[]> {
  let folder = found;
  await chmod(folder, 0o700);
  if (folder.length - root.length > LONG_PATH) {
    folder = join(root, `moved-${randomUUID()}`);
    await rename(found, folder);
  }
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
}
