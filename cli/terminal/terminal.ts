/** Everything of the process that a command uses. Tests pass another one, so that a command runs without a process. */
import type { Readable } from 'node:stream';

interface Output {
  /** Returns false when its reader is slow; `drain` follows. */
  write(text: string | Uint8Array): unknown;
  once?(event: 'drain', listener: () => void): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Terminal {
  in: Readable & { isTTY?: boolean };
  out: Output;
  err: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** The working folder. */
  cwd: string;
  /** Aborted by SIGINT and SIGTERM. A command that only watches ends; one that owns something cleans up. */
  signal: AbortSignal;
}

/** The terminal of this process. */
export function createProcessTerminal(): Terminal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort();
      // A second signal ends the process at once.
      process.once(name, () => process.exit(130));
    });
  }
  return {
    in: process.stdin,
    out: process.stdout,
    err: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: controller.signal,
  };
}

/** The width of the terminal in columns; 100 for a file or a pipe, and where a terminal does not know its size. */
export function getColumns({ out }: Pick<Terminal, 'out'>): number {
  return out.columns || 100;
}
