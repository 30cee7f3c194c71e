/** The time, as an interface that tests replace. Instants are milliseconds since the epoch. */
import type { WorkerClock } from '@switchyard/worker/environment.ts';

/** The clock of the server: that of a worker, and the processor time. */
export interface Clock extends WorkerClock {
  /** Milliseconds of processor time that this thread has used. */
  processorTime(): number;
}

/** The clock of the machine. A delay does not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  processorTime() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Formats an instant as RFC 3339 in UTC with milliseconds. */
export function formatRfc3339(at: number): string {
  return new Date(at).toISOString();
}

/**
 * Returns a function that formats whole microseconds since the epoch as RFC 3339 in UTC. It formats each second once: the lines
 * of a log share few seconds, and to format each alone took a third of the time of reading them.
 */
export function createMicrosFormatter(): (micros: number) => string {
  let second = Number.NaN;
  let prefix = '';
  return (micros) => {
    const current = Math.floor(micros / 1e6);
    if (current !== second) {
      second = current;
      prefix = formatRfc3339(current * 1000).slice(0, -'000Z'.length);
    }
    return `${prefix}${String(micros - current * 1e6).padStart(6, '0')}Z`;
  };
}
