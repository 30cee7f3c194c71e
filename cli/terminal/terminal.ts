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

/** Columns of a picture or of help in a file or a pipe. */
const COLUMNS_DEFAULT = 100;

/** The width of the terminal in columns, else that of `COLUMNS`, else 100. */
export function getColumns(terminal: Pick<Terminal, 'out' | 'env'>): number {
  return findColumns(terminal) ?? COLUMNS_DEFAULT;
}

/** The width of a table: none in a file or a pipe, where the next program needs whole values. */
export function getTableColumns(terminal: Pick<Terminal, 'out' | 'env'>): number {
  return findColumns(terminal) ?? Number.POSITIVE_INFINITY;
}

/** A terminal may not know its size, and reports 0 then. */
function findColumns({ out, env }: Pick<Terminal, 'out' | 'env'>): number | undefined {
  const named = Number(env.COLUMNS);
  return out.columns || (Number.isInteger(named) && named > 0 ? named : undefined);
}
