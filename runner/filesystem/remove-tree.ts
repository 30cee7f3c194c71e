/**
 * Removes what an app left, however it left it: folders nested deeper than a path can be long, and folders that their
 * owner may not read. As root this must never leave the folder, so every step goes by the descriptor of the folder that
 * it is in and through no link, whatever is renamed meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, type Dirent, opendirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { isErrno } from '../process/errors.ts';
import { buildFolderPrefix, openFolderForRemoval } from './untrusted-files.ts';

/** Each folder on the way down is held open, so what lies deeper moves to the top first. */
const DEEPEST = 100;
const BATCH = 256;
/** Removed at once, sooner than other runs would mind that nobody looks after them. */
const SMALL_ENTRIES = 64;

/** The folder or file and everything below it; no error when it is gone already. */
export async function removeTree(path: string): Promise<void> {
  let steps = 0;
  for (const _ of removal(path)) {
    steps += 1;
    if (steps % SMALL_ENTRIES === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** As removeAll, without a pause. */
export function removeTreeSync(path: string): void {
  for (const _ of removal(path));
}

/** Removes one entry for each step. */
function* removal(path: string): Generator<void> {
  yield* removeEntry(Buffer.from(path), 0);
}

/** @param top the inside of the outermost folder; absent for that folder itself. */
function* removeEntry(path: Buffer, depth: number, top?: Buffer): Generator<void> {
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
    const inside = buildFolderPrefix(fd, path);
    yield* empty(inside, depth, top ?? inside);
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
}

/** @param inside the path of a folder by its descriptor, with a slash at its end. */
function* empty(inside: Buffer, depth: number, top: Buffer): Generator<void> {
  // A listing may miss what is moved in while it goes on, so the last one is empty.
  for (let found = true; found; ) {
    found = false;
    const listing = opendirSync(inside, { bufferSize: BATCH, encoding: 'buffer' } as never);
    try {
      for (let next = listing.readSync(); next !== null; next = listing.readSync()) {
        const entry = next as unknown as Dirent<Buffer>;
        const path = Buffer.concat([inside, entry.name]);
        found = true;
        if (!entry.isDirectory()) unlinkSync(path);
        else if (depth < DEEPEST) yield* removeEntry(path, depth + 1, top);
        else renameSync(path, Buffer.concat([top, Buffer.from(`moved-${randomUUID()}`)]));
        yield;
      }
    } finally {
      listing.closeSync();
    }
  }
}
