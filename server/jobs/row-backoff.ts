/**
 * What goes wrong with one row keeps no other waiting: it is logged, and let be for a while, so that neither the log nor
 * the time of the reconciler is filled by what fails again and again.
 */
import type { Clock } from '../clock.ts';
import { errorMessage, type Log } from '../log.ts';

/** No longer than the shortest period of a reconciler, so that what has failed is tried by the next one. */
const RETRY_DELAY_MS = 5000;
/** Those whose time has passed are forgotten when there are more. */
const ENTRIES_MAX = 1000;

export class RowBackoff {
  readonly #parts: { clock: Clock; log: Log };
  readonly #sentence: string;
  readonly #until = new Map<string, number>();

  /** `sentence` is what the log says of a failure. */
  constructor({ clock, log }: { clock: Clock; log: Log }, sentence: string) {
    this.#parts = { clock, log };
    this.#sentence = sentence;
  }

  /** Does the work, unless it failed a moment ago; undefined when it was not done, or has failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    const { clock, log } = this.#parts;
    const now = clock.elapsed();
    if ((this.#until.get(key) ?? 0) > now) return undefined;
    this.#until.delete(key);
    try {
      return await work();
    } catch (error) {
      if (this.#until.size >= ENTRIES_MAX)
        for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other);
      this.#until.set(key, now + RETRY_DELAY_MS);
      log.error({ of: key, error: errorMessage(error) }, this.#sentence);
      return undefined;
    }
  }
}
