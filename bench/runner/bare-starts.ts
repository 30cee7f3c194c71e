/** The baseline of the benchmark: a small process that starts commands and waits for them, and does nothing else. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { StdioFile } from '../../runner/sandbox/command-chain.ts';

/** Starts `runs` times the same chain, `width` at a time; stdio as the launcher gives it. */
export interface BareStartRequest {
  command: string;
  arguments: string[];
  cwd: string;
  /** The same files in the same order as the launcher opens them. */
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
