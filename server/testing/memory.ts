/** How much memory processes take, as the host says, sampled while something happens. */
import { readFileSync } from 'node:fs';

const EVERY_MS = 10;

/** Resident bytes of the process; 0 when it is gone. */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export interface Watched<T> {
  result: T;
  ms: number;
  /** Resident bytes of the processes together: before, and the most seen until it was over. */
  before: number;
  peak: number;
}

/** Does the work and watches the processes meanwhile. */
export async function watchMemory<T>(pids: readonly number[], work: () => Promise<T>): Promise<Watched<T>> {
  const resident = (): number => pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, EVERY_MS);
  const begin = performance.now();
  try {
    const result = await work();
    return { result, ms: performance.now() - begin, before, peak: Math.max(peak, resident()) };
  } finally {
    clearInterval(timer);
  }
}
