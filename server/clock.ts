/** Time, behind a seam, so that a test can drive it. Instants are milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Milliseconds since some moment. Never goes back and never jumps, whatever the clock of the machine is set to. */
  elapsed(): number;
  /** Calls back once after the delay; the returned function takes it back. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** RFC 3339 in UTC with milliseconds. */
export function formatRfc3339(at: number): string {
  return new Date(at).toISOString();
}

/** RFC 3339 in UTC of an instant in whole microseconds since the epoch. */
export function formatRfc3339Micros(micros: number): string {
  const rest = micros % 1000;
  return `${formatRfc3339((micros - rest) / 1000).slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}
