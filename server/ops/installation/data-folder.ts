/** Restricts the files of the data folder to the user of the server. */
import { chmod, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { blobsFolder } from '../../platform/blobs/open-blob-store.ts';
import { sqlitePath } from '../../platform/database/open.ts';

/** Names of the server's files. The runner sets the modes of its own folder. */
const SERVER_FILES =
  /^(switchyard\.db.*|blobs|spool|master-key|root-token|installation\.json|first-run\.json|lock.*)$/;
const TRAVERSE_MODE = 0o111;

/**
 * Restricts the data folder; call it under its lock. For an ordinary user the mode of the folder is enough. As root, an app
 * without a sandbox has a user of its own, which needs to traverse the folder to that of its run. The folder then admits
 * traversal, and each file of the server is restricted.
 */
export async function restrictDataFolder(
  folder: string,
  contents: { database: boolean; blobs: boolean },
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  // SQLite creates its other files with the mode of this one.
  if (contents.database) await (await open(sqlitePath(folder), 'a', 0o600)).close();
  if (contents.blobs) await mkdir(blobsFolder({ data: folder, sharedBlobs: null }), { recursive: true });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!SERVER_FILES.test(entry.name) || entry.isSymbolicLink()) continue;
    await chmod(join(folder, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  const { mode } = await lstat(folder);
  if ((mode & TRAVERSE_MODE) !== TRAVERSE_MODE) await chmod(folder, (mode & 0o777) | TRAVERSE_MODE);
}
