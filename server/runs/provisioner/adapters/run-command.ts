/** Runs the commands of adapters. */
import { spawn } from 'node:child_process';

/** A scheduler that is busy answers within this time; after it, the command is ended and counts as failed. */
const TIMEOUT_MS = 60_000;
/** `squeue --json` writes some kilobytes for each job of the cluster. */
const OUTPUT_BYTES_MAX = 512 * 2 ** 20;
const ERROR_LINES = 3;

/** The input and the limits of a command. */
export interface CommandOptions {
  env: NodeJS.ProcessEnv;
  input?: string;
  timeoutMs?: number;
  /** true: nothing on standard output beside a message on standard error is a failure, whatever the status. */
  needsOutput?: boolean;
}

/** Runs a program and returns its standard output; an adapter reaches its cluster by it. */
export type RunCommand = (
  program: string,
  args: readonly string[],
  options: CommandOptions,
) => Promise<string>;

/**
 * Runs a program and returns its standard output. Throws an Error with the end of its standard error if it cannot start,
 * ends with another status than 0, or takes longer than a minute.
 */
export function runCommand(
  program: string,
  args: readonly string[],
  { env, input = '', timeoutMs = TIMEOUT_MS, needsOutput = false }: CommandOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' });
    const output: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > OUTPUT_BYTES_MAX) child.kill('SIGKILL');
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-10_000);
    });
    // A program that ends without reading its input must not end the server.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', (error) => {
      reject(
        new Error(`${program} cannot be started: ${error.message}. Install it on the machine of the server.`),
      );
    });
    child.on('close', (status, signal) => {
      const text = Buffer.concat(output).toString();
      const isSilent = status === 0 && needsOutput && text.trim() === '' && errors.trim() !== '';
      if (status === 0 && !isSilent) return resolve(text);
      const end = isSilent
        ? 'printed nothing, but on standard error'
        : status === null
          ? `was ended by ${signal}`
          : `ended with status ${status}`;
      const lines = errors.trim().split('\n').slice(-ERROR_LINES).join(' ');
      reject(new Error(`${program} ${end}: ${lines || 'no message on standard error'}`));
    });
  });
}
