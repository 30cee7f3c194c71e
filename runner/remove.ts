/**
 * Removes what an app left, however it left it: folders nested deeper than a path can be long, and folders that their
 * owner may not read. Nothing of the app lives any more, so nothing changes under our feet.
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
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every folder may be read and written, and what lies too deep has moved to the top. */
async function makeRemovable(root: string): Promise<void> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700);
    if (folder.length - root.length > LONG_PATH) {
      const higher = join(root, `moved-${randomUUID()}`);
      await rename(folder, higher);
      folder = higher;
    }
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
    }
  }
}
