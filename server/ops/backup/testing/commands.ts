/** Runs the commands as an operator does: in processes of their own, with settings in the environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { locateTestProgram } from '../../../testing/servers/test-programs.ts';

/** The end and the output of a command. */
export interface CommandResult {
  /** The exit code, or the name of the signal. */
  code: number | string;
  stdout: string;
  stderr: string;
}

/** Starts the command; `ended` resolves with its result. */
export function startCommand(
  command: 'backup' | 'restore' | 'verify',
  args: readonly string[],
  env: Record<string, string>,
): { child: ChildProcess; ended: Promise<CommandResult> } {
  const file = locateTestProgram(`server/ops/backup/${command}-command.ts`);
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = new Promise<CommandResult>((resolve) =>
    child.once('close', (code, signal) => resolve({ code: signal ?? code ?? 0, ...output })),
  );
  return { child, ended };
}

/** Runs the command to its end. */
export function runBackupCommand(
  name: 'backup' | 'restore' | 'verify',
  args: readonly string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  return startCommand(name, args, env).ended;
}
