/**
 * Whom the kernel ends when memory is gone: apps, and never the server or its launcher as long as there is an app. The
 * kernel adds `oom_score_adj` to what a process holds; 1000, the most, is as if it held all the memory there is.
 */
import { writeFileSync } from 'node:fs';
import { readProcFile } from './processes.ts';

const APP_SCORE = 1000;
const OWN = '/proc/self/oom_score_adj';

/**
 * Starts a process by `spawn`, which returns once the process is there, with the score of an app. It has it from its
 * first moment, because it inherits ours; set by root (CAP_SYS_RESOURCE), nobody without that right can lower it again.
 */
export function spawnWithAppOomScore<T>(spawn: () => T): T {
  const before = readProcFile(OWN)?.trim();
  if (before === undefined) return spawn();
  try {
    writeScore(OWN, String(APP_SCORE));
    return spawn();
  } finally {
    writeScore(OWN, before);
  }
}

/** Sets the score again where a process lowered it: at level limits the file is the app's own. */
export function restoreAppOomScore(pids: number[]): void {
  for (const pid of pids) {
    const path = `/proc/${pid}/oom_score_adj`;
    const score = readProcFile(path);
    if (score !== undefined && Number(score) < APP_SCORE) writeScore(path, String(APP_SCORE));
  }
}

/** How many processes of this machine the kernel has ended for lack of memory. */
export function countHostOomKills(): number {
  return Number(/^oom_kill (\d+)/m.exec(readProcFile('/proc/vmstat') ?? '')?.[1] ?? 0);
}

function writeScore(path: string, score: string): void {
  try {
    writeFileSync(path, score);
  } catch {
    // Gone, or not ours to change.
  }
}
