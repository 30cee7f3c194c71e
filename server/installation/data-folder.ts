/** The data folder: there, and what lies in it readable by nobody but the server. */
import { chmod, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { blobsFolder } from '../blobs/open-blob-store.ts';
import { sqlitePath } from '../database/open.ts';

/** What a server keeps here. The runner's folder is left out: it sets its modes itself. */
const OURS =
  /^(switchyard\.db.*|blobs|spool|master-key|root-token|installation\.json|first-run\.json|lock.*)$/;
const PASS = 0o111;

/**
 * For whoever holds the lock of the folder. For an ordinary user it is closed as a whole. As root, an app without a sandbox has a
 * user of its own, which must be able to pass through to the folder of its run: so it can be passed, and what the server
 * keeps in it is closed piece by piece.
 */
export async function restrictDataFolder(
  folder: string,
  keeps: { database: boolean; blobs: boolean },
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  // SQLite gives the files beside it the mode of this one.
  if (keeps.database) await (await open(sqlitePath(folder), 'a', 0o600)).close();
  if (keeps.blobs) await mkdir(blobsFolder({ data: folder, sharedBlobs: null }), { recursive: true });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!OURS.test(entry.name) || entry.isSymbolicLink()) continue;
    await chmod(join(folder, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  const { mode } = await lstat(folder);
  if ((mode & PASS) !== PASS) await chmod(folder, (mode & 0o777) | PASS);
}
