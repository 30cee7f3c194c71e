import { execFileSync } from 'node:child_process';

/** Runs git in a folder and returns its output; undefined without git or history. */
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

/** Returns the last commit of a folder, or "". It is an input of the build, because a commit changes the dates of pages. */
export function getLastCommit(folder: string): string {
  return runGit(folder, 'log', '-1', '--format=%H', '--', '.')?.trim() ?? '';
}
