/**
 * When those who follow logs are to ask again: after a second, and later when there are many of them, so that however
 * many follow, they do not ask more often than the server has time for, nor than the rate of their member allows. A question
 * costs about 0.2 ms of the one thread that answers, and a thousand followers who asked every second took a fifth of it
 * from those who make runs; and a client that is told "later" goes on, while one that is told "too many" gives up.
 *
 * Holds how many were told to come back in each tenth of a second to come, altogether and for each member. Nobody else is
 * known by name: one who was told a time counts until then, whether or not they come.
 */
import type { Clock } from '../../clock.ts';

/** A tenth of the thread at most. */
export const POLLS_PER_SECOND_MAX = 400;
/** What followers may take of the requests that their member may make; the rest is left to whoever makes runs. */
const SHARE_OF_KEY = 0.5;
const SECONDS_MAX = 30;
const SLOT_MS = 100;
/** As many slots as can be told, the one under way, and one more for what is rounded. */
const SLOTS = (SECONDS_MAX * 1000) / SLOT_MS + 2;
const MEMBERS_MAX = 10_000;

export class LogPollLimiter {
  readonly #clock: Clock;
  readonly #perMember: number | null;
  readonly #all: ScheduledPolls;
  readonly #members = new Map<string, ScheduledPolls>();

  /** `rate` is how often one member may call; null for no limit. */
  constructor(clock: Clock, rate: { perMinute: number } | null) {
    this.#clock = clock;
    this.#perMember = rate === null ? null : (rate.perMinute / 60) * SHARE_OF_KEY;
    this.#all = new ScheduledPolls(POLLS_PER_SECOND_MAX);
  }

  /** The seconds after which the member that asks now is to ask again. */
  nextPollSeconds(member: string): number {
    const now = this.#clock.now();
    const shares = [this.#all, ...this.#ofMember(member)];
    const seconds = Math.min(SECONDS_MAX, Math.max(...shares.map((one) => one.seconds(now))));
    for (const one of shares) one.add(now, seconds);
    return seconds;
  }

  #ofMember(member: string): ScheduledPolls[] {
    if (this.#perMember === null) return [];
    const known = this.#members.get(member);
    if (known) return [known];
    if (this.#members.size >= MEMBERS_MAX) this.#members.clear();
    const made = new ScheduledPolls(this.#perMember);
    this.#members.set(member, made);
    return [made];
  }
}

/** Questions that are to come, of those who share so many a second. */
class ScheduledPolls {
  readonly #perSecond: number;
  /** By the slot they come in, modulo the number of slots. */
  readonly #due = new Uint32Array(SLOTS);
  #expected = 0;
  #slot = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** After how many seconds one more is to come. */
  seconds(now: number): number {
    this.#forgetUntil(Math.floor(now / SLOT_MS));
    return Math.floor(this.#expected / this.#perSecond) + 1;
  }

  /** One more comes after so many seconds. */
  add(now: number, seconds: number): void {
    const at = Math.floor((now + seconds * 1000) / SLOT_MS) % SLOTS;
    this.#due[at] = (this.#due[at] ?? 0) + 1;
    this.#expected += 1;
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
