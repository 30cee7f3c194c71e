/** The slot use of an account or an application during a simulation. The same numbers as those of `slot-use.ts`, at later times. */
import { MINUTE_MS, RECENT_USE_MS, type sliceByMinute } from '../../../accounts/usage/slot-times.ts';

type MinuteTime = ReturnType<typeof sliceByMinute>[number];

/** More minutes than count, so that the place of a new minute is always empty. */
const CAPACITY = 16;
const MINUTES = RECENT_USE_MS / MINUTE_MS;

/** An account or an application when the simulations begin. */
export interface InitialUse {
  /** The slots that it occupies. */
  occupied: number;
  /** How many more runs its quota lets start; infinite without a quota. */
  free: number;
  minutes: readonly MinuteTime[];
}

export class SimulatedUse {
  readonly #initial: InitialUse;
  readonly #times = new Float64Array(CAPACITY);
  #occupied = 0;
  #free = 0;
  /** The newest minute of the ring. */
  #minute = 0;
  #sum = 0;

  constructor(initial: InitialUse) {
    this.#initial = initial;
  }

  /** Begins a simulation. */
  reset(now: number): void {
    const { occupied, free, minutes } = this.#initial;
    this.#occupied = occupied;
    this.#free = free;
    this.#times.fill(0);
    this.#sum = 0;
    this.#minute = Math.floor(now / MINUTE_MS);
    for (const time of minutes) this.#add(time);
  }

  start(): void {
    this.#occupied += 1;
    this.#free -= 1;
  }

  /** Ends a run that occupied its slot in the minutes, until the time. */
  end(minutes: readonly MinuteTime[], until: number): void {
    this.#occupied -= 1;
    this.#free += 1;
    this.#advance(Math.floor(until / MINUTE_MS));
    for (const time of minutes) this.#add(time);
  }

  /** Returns the slots that the owner uses; infinite when its quota is used up. */
  find(now: number): number {
    if (this.#free <= 0) return Number.POSITIVE_INFINITY;
    this.#advance(Math.floor(now / MINUTE_MS));
    const first = this.#minute - MINUTES;
    const oldest = this.#times[first & (CAPACITY - 1)] ?? 0;
    const share = first + 1 - (now - RECENT_USE_MS) / MINUTE_MS;
    const recent = this.#sum - oldest + Math.round(oldest * share);
    return (this.#occupied * RECENT_USE_MS + recent) / RECENT_USE_MS;
  }

  #add({ minute, slot_ms }: MinuteTime): void {
    if (minute < this.#minute - MINUTES || minute > this.#minute) return;
    this.#times[minute & (CAPACITY - 1)] = (this.#times[minute & (CAPACITY - 1)] ?? 0) + slot_ms;
    this.#sum += slot_ms;
  }

  /** Forgets the minutes that no longer count. */
  #advance(minute: number): void {
    if (minute - this.#minute > MINUTES) {
      this.#times.fill(0);
      this.#sum = 0;
      this.#minute = minute;
    }
    while (this.#minute < minute) {
      const left = (this.#minute - MINUTES) & (CAPACITY - 1);
      this.#sum -= this.#times[left] ?? 0;
      this.#times[left] = 0;
      this.#minute += 1;
    }
  }
}
