/** The times of the lines of a log, as steps: few lines of a fast log have a time of their own. */
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { formatExact } from '../../../ui/format-exact.ts';

/** Times in milliseconds since the epoch, by line. */
export class LogTimes {
  /** The time of each step, and the number of lines up to its end. */
  readonly #times: number[] = [];
  readonly #ends: number[] = [];

  /** Adds the time of the next lines. */
  add(at: number, lines = 1): void {
    const end = (this.#ends.at(-1) ?? 0) + lines;
    if (this.#times.at(-1) === at) this.#ends[this.#ends.length - 1] = end;
    else {
      this.#times.push(at);
      this.#ends.push(end);
    }
  }

  get isEmpty(): boolean {
    return this.#times.length === 0;
  }

  /** Returns the time of the line with the index; undefined for a line without one. */
  find(index: number): number | undefined {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return this.#times[low];
  }
}

/** Returns when the first attempt started, in milliseconds since the epoch: a log contains those that were lost. */
export function findFirstStart({ metadata }: RunInformation): number | undefined {
  const start = metadata.lost_attempts?.[0]?.initiated_at ?? metadata.initiated_at;
  return start === undefined ? undefined : Date.parse(start);
}

/** How the times of lines are shown. */
export const TIME_MODES = ['start', 'clock', 'none'] as const;
export type TimeMode = (typeof TIME_MODES)[number];

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');

/** Returns the time since the start, such as `00:01.250` or `1:02:03.500`; both in milliseconds since the epoch. */
export function formatSinceStart(at: number, start: number): string {
  const ms = Math.max(0, Math.round(at - start));
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const rest = `${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}.${pad(ms % 1000, 3)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** Returns the local time of day with milliseconds. */
export function formatClockTime(at: number): string {
  return `${clock.format(at)}.${pad(Math.floor(at) % 1000, 3)}`;
}

/** Returns the local date and time. */
export function formatExactTime(at: number): string {
  return `${formatExact(at)}.${pad(Math.floor(at) % 1000, 3)}`;
}
