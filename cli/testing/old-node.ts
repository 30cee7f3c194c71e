/** An old Node on this machine, with which people may run the package of the command line. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Ended } from './run-command.ts';

const OLD_VERSION = /^v20\./;

/** Returns the folder with a Node 20 and its npm, from the PATH; undefined where there is none. */
export function findOldNode(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => existsSync(join(folder, 'node')) && existsSync(join(folder, 'npm')))
    .find((folder) =>
      OLD_VERSION.test(execFileSync(join(folder, 'node'), ['--version'], { encoding: 'utf8', env: {} })),
    );
}

/** Runs a program that finds this Node before others, and no setting of this process. */
export async function runWithNode(
  nodeFolder: string,
  [command = '', ...args]: readonly string[],
  { env = {}, cwd, input = '' }: { env?: Record<string, string>; cwd: string; input?: string },
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: [nodeFolder, process.env.PATH].join(delimiter), HOME: cwd, ...env },
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}
