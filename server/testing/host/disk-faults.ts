/**
 * Makes chosen system calls of a process on chosen files fail, by a library that the C compiler of the host builds
 * (disk-faults.c). Files under test are real, and so is the code of SQLite and libuv that sees the errors.
 */
import { spawnSync } from 'node:child_process';
import { openSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const OPERATIONS = { write: 1, truncate: 2, sync: 3 } as const;
const STRUCT_BYTES = 32;

/** Calls that fail. */
export interface DiskFault {
  operation: keyof typeof OPERATIONS;
  /** The end of the path of the file, such as `-wal`. */
  file: string;
  error: 'ENOSPC' | 'EIO';
  /** The first call that fails; 1 is the next one. */
  first: number;
  /** How many calls fail from there on. */
  count: number;
}

/** Builds the library in the folder. Returns the environment of processes whose disk can fail, or why there is none. */
export function buildDiskFaults(folder: string): { env: Record<string, string> } | { problem: string } {
  const library = join(folder, 'disk-faults.so');
  const source = join(import.meta.dirname, 'disk-faults.c');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (built.error) return { problem: `a C compiler cannot be started (${built.error.message})` };
  if (built.status !== 0) return { problem: `disk-faults.c cannot be compiled: ${built.stderr}` };
  const control = join(folder, 'disk-faults');
  writeFileSync(control, Buffer.alloc(STRUCT_BYTES));
  return { env: { LD_PRELOAD: library, DISK_FAULTS: control } };
}

/** Returns a function that sets the fault of the processes with this environment; null ends it. */
export function openDiskFaults(env: Record<string, string | undefined>): (fault: DiskFault | null) => void {
  const control = openSync(env.DISK_FAULTS ?? '', 'r+');
  return (fault) => {
    const struct = Buffer.alloc(STRUCT_BYTES);
    if (fault) {
      const { operation, first, count, error, file } = fault;
      const numbers = [OPERATIONS[operation], first, count, constants.errno[error]];
      for (const [index, number] of numbers.entries()) struct.writeInt32LE(number, 4 * index);
      struct.write(file, 16, 'latin1');
    }
    writeSync(control, struct, 0, STRUCT_BYTES, 0);
  };
}
