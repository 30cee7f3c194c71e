/** How much memory processes take, as the host says, sampled while something happens. */
import { readFileSync } from 'node:fs';

const INTERVAL_MS = 10;

/** Resident bytes of the process; 0 when it is gone. */
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
  /** Resident bytes of the processes together: before, and the most seen until it was over. */
  bytesBefore: number;
  peakBytes: number;
}

/** Does the work and watches the processes meanwhile. */
export async function measureMemory<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<MemoryMeasurement<T>> {
  const resident = (): number => pids.reduce((sum, pid) => sum + readResidentBytes(pid), 0);
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, INTERVAL_MS);
  const begin = performance.now();
  try {
    const result = await work();
    return {
      result,
      durationMs: performance.now() - begin,
      bytesBefore: before,
      peakBytes: Math.max(peak, resident()),
    };
  } finally {
    clearInterval(timer);
  }
}
