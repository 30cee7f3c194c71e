/** Time, behind a seam, so that a test can drive it. Instants are milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Calls back once after the delay; the returned function takes it back. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** RFC 3339 in UTC with milliseconds. */
export function rfc3339(at: number): string {
  return new Date(at).toISOString();
}

/** RFC 3339 in UTC with microseconds, for instants that carry a fraction of a millisecond. */
export function rfc3339Micros(at: number): string {
  const whole = Math.floor(at);
  const micros = Math.min(999, Math.floor((at - whole) * 1000));
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}
