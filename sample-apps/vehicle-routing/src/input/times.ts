/**
 * Times of the input are either plain numbers (seconds) or RFC 3339 timestamps, the same throughout one input. The
 * clock remembers which, and the offset of the first timestamp, so that the output is written the way the input was.
 * Inside the app a time is always a number of seconds; timestamps count from the first one met, to keep the numbers
 * small enough for exact arithmetic.
 */
import { InputError, rejectValue } from './fields.ts';

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|([+-])(\d{2}):(\d{2}))$/;

export class Clock {
  private kind: 'unknown' | 'seconds' | 'timestamps' = 'unknown';
  private origin = 0;
  private offsetMinutes = 0;
  private earliest = Infinity;

  /** Reads a time of the input. */
  parse(value: unknown, path: string): number {
    if (typeof value === 'number' && Number.isFinite(value)) {
      this.requireKind('seconds', path);
      return this.noted(value);
    }
    const match = typeof value === 'string' ? timestamp.exec(value) : null;
    const milliseconds = match ? Date.parse(String(value)) : Number.NaN;
    if (!match || Number.isNaN(milliseconds)) {
      rejectValue(path, value, 'a number of seconds or a timestamp such as "2026-05-04T08:00:00Z"');
    }
    if (this.kind === 'unknown') {
      this.origin = milliseconds / 1000;
      this.offsetMinutes = match[2]
        ? (Number(match[3]) * 60 + Number(match[4])) * (match[2] === '-' ? -1 : 1)
        : 0;
    }
    this.requireKind('timestamps', path);
    return this.noted(milliseconds / 1000 - this.origin);
  }

  /** When a vehicle without a shift may start: at 0, or at the earliest timestamp of the input. */
  defaultShiftStart(): number {
    return this.kind === 'timestamps' ? this.earliest : 0;
  }

  /** How to write times, or null when they are plain numbers. */
  outputFormat(): { origin: number; offsetMinutes: number } | null {
    return this.kind === 'timestamps' ? { origin: this.origin, offsetMinutes: this.offsetMinutes } : null;
  }

  private noted(time: number): number {
    this.earliest = Math.min(this.earliest, time);
    return time;
  }

  private requireKind(kind: 'seconds' | 'timestamps', path: string): void {
    if (this.kind !== 'unknown' && this.kind !== kind) {
      throw new InputError(
        `${path} is written in ${kind} where the input used ${this.kind} before; use one of the two.`,
      );
    }
    this.kind = kind;
  }
}

/** Writes a time the way the input wrote its times. */
export function formatTime(
  seconds: number,
  clock: { origin: number; offsetMinutes: number } | null,
): number | string {
  if (!clock) return round(seconds);
  const local = new Date(Math.round(seconds + clock.origin + clock.offsetMinutes * 60) * 1000);
  const minutes = Math.abs(clock.offsetMinutes);
  const two = (value: number) => String(value).padStart(2, '0');
  const sign = clock.offsetMinutes < 0 ? '-' : '+';
  const zone = minutes === 0 ? 'Z' : `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${local.toISOString().slice(0, 19)}${zone}`;
}

/** Rounds to six decimals: enough for any unit, and free of the noise of floating-point sums. */
export function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
