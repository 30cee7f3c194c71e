import { execFileSync } from 'node:child_process';

/** What git answers in a folder, or undefined where there is no git or no history. */
export function runGit(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 26,
    });
  } catch {
    return undefined;
  }
}

/** The last commit that touched a folder, or "": a new commit changes dates, so it makes a new build. */
export function getLastCommit(folder: string): string {
  return runGit(folder, 'log', '-1', '--format=%H', '--', '.')?.trim() ?? '';
}
