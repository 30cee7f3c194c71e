/**
 * When those who follow logs are to ask again: after a second, and later when there are many of them, so that however
 * many follow, they do not ask more often than a fixed number of times a second. A question costs about 0.2 ms of the one
 * thread that answers, and a thousand followers who asked every second took a fifth of it from those who make runs.
 *
 * Holds how many were told to come back in each tenth of a second to come. Nobody is known by name: one who was told a
 * time counts until then, whether or not they come.
 */
import type { Clock } from '../clock.ts';

/** A tenth of the thread at most. */
export const QUESTIONS_PER_SECOND = 400;
const SECONDS_MAX = 30;
const SLOT_MS = 100;
/** As many slots as can be told, the one under way, and one more for what is rounded. */
const SLOTS = (SECONDS_MAX * 1000) / SLOT_MS + 2;

export class FollowPace {
  readonly #clock: Clock;
  /** Followers by the slot they come back in, modulo the number of slots. */
  readonly #due = new Uint32Array(SLOTS);
  #expected = 0;
  #slot = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The seconds after which whoever asks now is to ask again. */
  nextSeconds(): number {
    const now = this.#clock.now();
    this.#forgetUntil(Math.floor(now / SLOT_MS));
    const seconds = Math.min(SECONDS_MAX, Math.floor(this.#expected / QUESTIONS_PER_SECOND) + 1);
    const at = Math.floor((now + seconds * 1000) / SLOT_MS) % SLOTS;
    this.#due[at] = (this.#due[at] ?? 0) + 1;
    this.#expected += 1;
    return seconds;
  }

  /** Those whose time has come are counted again when they ask. */
  #forgetUntil(slot: number): void {
    // A clock that was set to another day has no use for what was expected before.
    const passed = Math.abs(slot - this.#slot) < SLOTS ? slot - this.#slot : SLOTS;
    for (let step = 0; step < passed; step += 1) {
      const at = (slot - 1 - step) % SLOTS;
      this.#expected -= this.#due[at] ?? 0;
      this.#due[at] = 0;
    }
    if (passed > 0) this.#slot = slot;
  }
}
