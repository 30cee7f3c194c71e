/** Runs the small commands by which the host is probed. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const PATIENCE_MS = 20_000;

/** Where a command lies, by PATH and then in the usual folders. */
export function findTool(name: string): string | undefined {
  return findAllTools(name)[0];
}

export function findAllTools(name: string): string[] {
  const folders = [
    ...(process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/')),
    ...USUAL_FOLDERS,
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
  output: string;
  /** What went wrong, in one line. */
  error: string;
}

/** @param user the user and group id to run as; absent: ours. */
export async function runCommand(command: string, args: string[], user?: number): Promise<CommandResult> {
  const options = { timeout: PATIENCE_MS, cwd: '/', ...(user === undefined ? {} : { uid: user, gid: user }) };
  return await new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      // After what was wrong mount gives advice.
      const lines = stderr.trim().split('\n');
      const said = lines.findLast((line) => !line.includes('dmesg(1)'))?.trim() ?? '';
      const trouble = error === null ? '' : said || error.message;
      resolve({ ok: error === null, output: `${stdout}${stderr}`, error: trouble });
    });
  });
}
