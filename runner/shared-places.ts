/**
 * Where any user of a host may write. At level `limits` an app reaches these places; one that runs under a user of its
 * own can be held to what it put there, and it is removed after the run.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeAllSync } from './remove.ts';

const SHARED = ['/tmp', '/var/tmp', '/dev/shm'];

/** Paths of what the user owns there; nothing without a user of the run's own. */
export function sharedPlaces(user: number | undefined): string[] {
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
export function clearSharedPlaces(user: number | undefined): void {
  for (const path of sharedPlaces(user)) {
    try {
      removeAllSync(path);
    } catch {
      // It stays; the end of the run must not.
    }
  }
}
