import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Replaces the folder by one with these files, by path. A server never reads a folder that is half written. */
export function replaceFolder(folder: string, files: ReadonlyMap<string, string | Uint8Array>): void {
  const fresh = `${folder}-${process.pid}-new`;
  const old = `${folder}-${process.pid}-old`;
  rmSync(fresh, { recursive: true, force: true });
  for (const [path, content] of files) {
    const target = join(fresh, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}
