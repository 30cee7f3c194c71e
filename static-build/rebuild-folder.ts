import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFolder } from './replace-folder.ts';

const STAMP_FILE = 'input-hash.txt';

/**
 * Replaces the folder by one with the created files, and keeps the hash of their inputs beside them. Does nothing when the
 * folder has that hash already. Returns whether the folder was replaced.
 */
export async function rebuildFolder(
  folder: string,
  inputHash: string,
  createFiles: () => Promise<Map<string, string | Uint8Array>>,
): Promise<boolean> {
  if (readStamp(folder) === inputHash) return false;
  const files = await createFiles();
  files.set(STAMP_FILE, inputHash);
  replaceFolder(folder, files);
  return true;
}

/** Returns undefined without a build. */
function readStamp(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, STAMP_FILE), 'utf8');
  } catch {
    return undefined;
  }
}
