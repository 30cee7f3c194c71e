/** Measures the memory of processes on the host. */
import { readFileSync } from 'node:fs';

const SAMPLE_INTERVAL_MS = 10;

/** Returns the resident bytes of the process; 0 when it has ended. */
export function readResidentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export interface MemoryMeasurement<T> {
  result: T;
  durationMs: number;
  /** Resident bytes of all processes: before the work, and the maximum until its end. */
  bytesBefore: number;
  peakBytes: number;
}

/** Samples the memory of the processes every 10 ms until the work is done. */
export async function measureMemory<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<MemoryMeasurement<T>> {
  const sumResidentBytes = (): number => pids.reduce((sum, pid) => sum + readResidentBytes(pid), 0);
  const bytesBefore = sumResidentBytes();
  let peakBytes = bytesBefore;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, sumResidentBytes());
  }, SAMPLE_INTERVAL_MS);
  const begin = performance.now();
  try {
    const result = await work();
    return {
      result,
      durationMs: performance.now() - begin,
      bytesBefore: bytesBefore,
      peakBytes: Math.max(peakBytes, sumResidentBytes()),
    };
  } finally {
    clearInterval(timer);
  }
}
