/**
 * Makes the kernel end apps, and not the server or its launcher, when memory is exhausted. The kernel adds
 * `oom_score_adj` to the memory share of a process; 1000, the maximum, counts as all memory.
 */
import { writeFileSync } from 'node:fs';
import { readProcFile } from './processes.ts';

const APP_SCORE = 1000;
const OWN_SCORE_FILE = '/proc/self/oom_score_adj';

/**
 * Calls `spawn`, which starts a process and returns, while this process has the score of an app. The child inherits the
 * score from its first moment. When root sets it (CAP_SYS_RESOURCE), no unprivileged process can lower it again.
 */
export function spawnWithAppOomScore<T>(spawn: () => T): T {
  const before = readProcFile(OWN_SCORE_FILE)?.trim();
  if (before === undefined) return spawn();
  try {
    writeScore(OWN_SCORE_FILE, String(APP_SCORE));
    return spawn();
  } finally {
    writeScore(OWN_SCORE_FILE, before);
  }
}

/** Resets the score of processes that lowered it; at level `limits` an app may write the file. */
export function restoreAppOomScore(pids: number[]): void {
  for (const pid of pids) {
    const path = `/proc/${pid}/oom_score_adj`;
    const score = readProcFile(path);
    if (score !== undefined && Number(score) < APP_SCORE) writeScore(path, String(APP_SCORE));
  }
}

/** Returns how many processes of this machine the kernel has ended for lack of memory. */
export function countHostOomKills(): number {
  return Number(/^oom_kill (\d+)/m.exec(readProcFile('/proc/vmstat') ?? '')?.[1] ?? 0);
}

function writeScore(path: string, score: string): void {
  try {
    writeFileSync(path, score);
  } catch {
    // The process ended, or belongs to another user.
  }
}
