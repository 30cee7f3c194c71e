/**
 * Removes the files of an app, which may nest folders deeper than the longest path and make them unreadable. As root the
 * removal must never leave the folder, so every step uses the descriptor of its folder and never follows a link, whatever
 * is renamed meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, opendirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { isErrno } from '../process/errors.ts';
import { buildFolderPrefix, openFolderForRemoval } from './untrusted-files.ts';

/** The removal holds one open descriptor for each level; deeper folders are moved to the top first. */
const MAX_OPEN_LEVELS = 100;
const ENTRIES_PER_READ = 256;
/** Entries between two pauses of the event loop; the launcher samples other runs in the pauses. */
const ENTRIES_PER_PAUSE = 64;

/** Removes a file, or a folder with everything below it; no error when it is missing. */
export async function removeTree(path: string): Promise<void> {
  let steps = 0;
  for (const _ of removeSteps(path)) {
    steps += 1;
    if (steps % ENTRIES_PER_PAUSE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Removes a tree without pauses. */
export function removeTreeSync(path: string): void {
  for (const _ of removeSteps(path));
}

/** Removes one entry in each step. */
function* removeSteps(path: string): Generator<void> {
  yield* removeEntry(Buffer.from(path), 0);
}

/** @param topPrefix prefix of the outermost folder; absent for that folder itself. */
function* removeEntry(path: Buffer, depth: number, topPrefix?: Buffer): Generator<void> {
  let fd: number;
  try {
    fd = openFolderForRemoval(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    if (!isErrno(error, 'ENOTDIR', 'ELOOP')) throw error;
    unlinkSync(path);
    return;
  }
  try {
    const prefix = buildFolderPrefix(fd, path);
    yield* removeEntries(prefix, depth, topPrefix ?? prefix);
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
}

/** @param prefix path of a folder by its descriptor, with a final slash. */
function* removeEntries(prefix: Buffer, depth: number, topPrefix: Buffer): Generator<void> {
  // A listing may miss entries that are moved in meanwhile, so the last listing has to be empty.
  for (let hasEntries = true; hasEntries; ) {
    hasEntries = false;
    const listing = opendirSync(prefix, { bufferSize: ENTRIES_PER_READ, encoding: 'buffer' } as never);
    try {
      for (let next = listing.readSync(); next !== null; next = listing.readSync()) {
        // The types of Node do not know that names are buffers with this encoding.
        const { name }: { name: unknown } = next;
        const path = Buffer.concat([prefix, Buffer.isBuffer(name) ? name : Buffer.from(String(name))]);
        hasEntries = true;
        if (!next.isDirectory()) unlinkSync(path);
        else if (depth < MAX_OPEN_LEVELS) yield* removeEntry(path, depth + 1, topPrefix);
        else renameSync(path, Buffer.concat([topPrefix, Buffer.from(`moved-${randomUUID()}`)]));
        yield;
      }
    } finally {
      listing.closeSync();
    }
  }
}
