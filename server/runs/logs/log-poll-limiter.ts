/**
 * Limits the rate at which followers of logs poll: after one second, and later when there are many of them. A poll takes
 * about 0.2 ms of the thread that serves all requests. A thousand followers that polled every second took a fifth of it
 * from the creation of runs. The server returns a later time in place of a 429, because clients give up after a 429.
 *
 * It counts the scheduled polls in each tenth of a second, in total and for each member. A follower counts until its
 * scheduled time, even if it does not poll again.
 */
import type { Clock } from '../../platform/clock.ts';

/** At 0.2 ms each, polls take a tenth of the thread at most. */
export const POLLS_PER_SECOND_MAX = 400;
/** Polls may use this share of the requests of a member; the rest is for its other requests. */
const MEMBER_SHARE = 0.5;
const POLL_DELAY_SECONDS_MAX = 30;
const SLOT_MS = 100;
/** One slot for each time a poll can have, one for the current time, and one for rounding. */
const SLOT_COUNT = (POLL_DELAY_SECONDS_MAX * 1000) / SLOT_MS + 2;
const MEMBERS_MAX = 10_000;

/** Schedules the polls of all followers of this process. */
export class LogPollLimiter {
  readonly #clock: Clock;
  readonly #perMember: number | null;
  readonly #all: ScheduledPolls;
  readonly #members = new Map<string, ScheduledPolls>();

  /** `rate` is the limit on the requests of a member; null for none. */
  constructor(clock: Clock, rate: { perMinute: number } | null) {
    this.#clock = clock;
    this.#perMember = rate === null ? null : (rate.perMinute / 60) * MEMBER_SHARE;
    this.#all = new ScheduledPolls(POLLS_PER_SECOND_MAX);
  }

  /** Schedules the next poll of a follower and returns the delay until then in seconds. */
  schedulePoll(member: string): number {
    const now = this.#clock.now();
    const limits = [this.#all, ...this.#listMemberLimits(member)];
    const seconds = Math.min(
      POLL_DELAY_SECONDS_MAX,
      Math.max(...limits.map((limit) => limit.computeDelaySeconds(now))),
    );
    for (const limit of limits) limit.add(now, seconds);
    return seconds;
  }

  #listMemberLimits(member: string): ScheduledPolls[] {
    if (this.#perMember === null) return [];
    const known = this.#members.get(member);
    if (known) return [known];
    if (this.#members.size >= MEMBERS_MAX) this.#members.clear();
    const created = new ScheduledPolls(this.#perMember);
    this.#members.set(member, created);
    return [created];
  }
}

/** The scheduled polls of followers that share a rate. */
class ScheduledPolls {
  readonly #perSecond: number;
  /** The number of polls by their slot, modulo SLOT_COUNT. */
  readonly #countBySlot = new Uint32Array(SLOT_COUNT);
  #scheduled = 0;
  #slot = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Returns the delay in seconds that keeps one more poll within the rate. */
  computeDelaySeconds(now: number): number {
    this.#removeUntil(Math.floor(now / SLOT_MS));
    return Math.floor(this.#scheduled / this.#perSecond) + 1;
  }

  /** Adds a poll at the given delay. */
  add(now: number, seconds: number): void {
    const index = Math.floor((now + seconds * 1000) / SLOT_MS) % SLOT_COUNT;
    this.#countBySlot[index] = (this.#countBySlot[index] ?? 0) + 1;
    this.#scheduled += 1;
  }

  /** Removes the polls before the slot: their followers are counted again when they poll. */
  #removeUntil(slot: number): void {
    // After a jump of the clock by more than all slots, no count is valid.
    const passed = Math.abs(slot - this.#slot) < SLOT_COUNT ? slot - this.#slot : SLOT_COUNT;
    for (let step = 0; step < passed; step += 1) {
      const index = (slot - 1 - step) % SLOT_COUNT;
      this.#scheduled -= this.#countBySlot[index] ?? 0;
      this.#countBySlot[index] = 0;
    }
    if (passed > 0) this.#slot = slot;
  }
}
