/** The baseline of the benchmark: a small process that only starts commands and waits for them. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { StdioFile } from '../../runner/sandbox/command-chain.ts';

/** Starts the same command `runs` times, `width` at a time, with the stdio of the launcher. */
export interface BareStartRequest {
  command: string;
  arguments: string[];
  cwd: string;
  /** The launcher opens the same files in the same order. */
  files: StdioFile[];
  runs: number;
  concurrency: number;
}

process.on('message', async (order: BareStartRequest) => {
  let left = order.runs;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const stdio = order.files.map(({ path, flags, mode }) => openSync(path, flags, mode));
      const child = spawn(order.command, order.arguments, { cwd: order.cwd, stdio, env: {}, detached: true });
      for (const descriptor of stdio) closeSync(descriptor);
      const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
      if (code !== 0) throw new Error(`A bare start ended with ${code}.`);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: order.concurrency }, worker));
  process.send?.({ ms: performance.now() - begun });
});
process.send?.('ready');
