/**
 * Where any user of a host may write. At level `limits` an app reaches these places; one that runs under a user of its
 * own can be held to what it put there, and it is removed after the run.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTreeSync } from './remove-tree.ts';

const SHARED = ['/tmp', '/var/tmp', '/dev/shm'];

/** Paths of what the user owns there; nothing without a user of the run's own. */
export function listWorldWritableFiles(user: number | undefined): string[] {
  if (user === undefined) return [];
  return SHARED.flatMap((folder) => {
    try {
      return readdirSync(folder)
        .map((name) => join(folder, name))
        .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === user);
    } catch {
      return [];
    }
  });
}

/** Removes what a run left there; nothing of it lives any more. */
export function removeWorldWritableFiles(user: number | undefined): void {
  for (const path of listWorldWritableFiles(user)) {
    try {
      removeTreeSync(path);
    } catch {
      // It stays; the end of the run must not.
    }
  }
}
