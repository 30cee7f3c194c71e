/** The two commands as an operator runs them: processes of their own, with settings in the environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Ended {
  code: number | string;
  out: string;
  error: string;
}

/** Starts the command; `ended` resolves with how it ended. */
export function startCommand(
  command: 'backup' | 'restore' | 'verify',
  args: readonly string[],
  env: Record<string, string>,
): { child: ChildProcess; ended: Promise<Ended> } {
  const file = join(import.meta.dirname, '..', `${command}-command.ts`);
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.error += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code: signal ?? code ?? 0, ...said })),
  );
  return { child, ended };
}

export function command(
  name: 'backup' | 'restore' | 'verify',
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  return startCommand(name, args, env).ended;
}
