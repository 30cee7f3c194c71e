/** Finds and runs small commands of the host. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const DEFAULT_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const TIMEOUT_MS = 20_000;

/** Returns the path of a command, searched in PATH and then in the default folders; undefined when it is missing. */
export function findTool(name: string): string | undefined {
  return findAllTools(name)[0];
}

/** Returns every path of a command, in the order of PATH and then of the default folders. */
export function findAllTools(name: string): string[] {
  const folders = [
    ...(process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/')),
    ...DEFAULT_FOLDERS,
  ];
  return [...new Set(folders.map((folder) => join(folder, name)))].filter((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export interface CommandResult {
  ok: boolean;
  /** stdout followed by stderr. */
  output: string;
  /** The error in one line; empty after success. */
  error: string;
}

/**
 * Runs a command in `/` and resolves with its result, also when it fails.
 *
 * @param user user and group id of the command; absent: those of this process.
 */
export async function runCommand(command: string, args: string[], user?: number): Promise<CommandResult> {
  const options = { timeout: TIMEOUT_MS, cwd: '/', ...(user === undefined ? {} : { uid: user, gid: user }) };
  return await new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      // mount prints advice ("dmesg(1) may have more information") after the error.
      const lines = stderr.trim().split('\n');
      const lastLine = lines.findLast((line) => !line.includes('dmesg(1)'))?.trim() ?? '';
      const message = error === null ? '' : lastLine || error.message;
      resolve({ ok: error === null, output: `${stdout}${stderr}`, error: message });
    });
  });
}
