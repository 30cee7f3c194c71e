/** Runs programs of this machine for a push, without a shell. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';

export interface ProgramOptions {
  cwd: string;
  timeoutMs: number;
  /** The environment; the default is that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Receives each line of the output as it comes. */
  onLine?: (line: string) => void;
}

/** Resolves with the exit code and the whole output. A program that cannot be started has the code 1. */
export function runProgram(
  [command = '', ...args]: readonly string[],
  { cwd, timeoutMs, env = process.env, onLine }: ProgramOptions,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    // The option `timeout` of spawn keeps its timer, and with it this process, when the program cannot be started.
    const timer = setTimeout(() => child.kill(), timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      if (onLine) createInterface({ input: stream }).on('line', onLine);
    }
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ code: 1, output: error.message });
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      const ended =
        signal === null ? '' : `\nIt was ended by ${signal}; its limit is ${formatDuration(timeoutMs)}.`;
      resolve({ code: code ?? 1, output: chunks.join('') + ended });
    });
  });
}
