/** Reports the time of a test run: the duration of test files, summed for each part of the repository. */
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { root } from './install.mjs';

/**
 * Returns one line for each folder, the longest first: seconds of wall time and number of files. Workers run in
 * parallel, so the sum is about three times the time of the run. `server` is divided by its folders. Empty without a
 * report.
 */
export function summarizeDurations(/** @type {string} */ report) {
  /** @type {Map<string, { ms: number, files: number }>} */
  const parts = new Map();
  for (const { name, startTime, endTime } of readFileResults(report)) {
    const folders = relative(root, name).split(sep).slice(0, -1);
    const part = folders.slice(0, folders[0] === 'server' ? 2 : 1).join('/');
    const { ms, files } = parts.get(part) ?? { ms: 0, files: 0 };
    parts.set(part, { ms: ms + endTime - startTime, files: files + 1 });
  }
  return [...parts]
    .sort(([, one], [, other]) => other.ms - one.ms)
    .map(([part, { ms, files }]) => `${(ms / 1000).toFixed(0).padStart(5)} s  ${part}, ${files} files`);
}

/** @returns {{ name: string, startTime: number, endTime: number }[]} */
function readFileResults(/** @type {string} */ report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return [];
  }
}
