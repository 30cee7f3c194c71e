/** The parts of a process that the worker needs: its clock and its log. */

/** The time. Tests replace it. */
export interface WorkerClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary instant. It grows steadily, also when someone sets the clock of the machine. */
  elapsed(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Writes an event with its fields. */
export interface WorkerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
