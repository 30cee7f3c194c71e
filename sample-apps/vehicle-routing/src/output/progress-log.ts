/**
 * Progress on stderr, at most once in `interval` seconds, and the last state before it ends. A line is for people, and one for
 * the curve that the platform draws while the run is active.
 */
import type { Search } from '../search/search.ts';

export class ProgressLog {
  private readonly write: (line: string) => void;
  private readonly interval: number;
  private readonly valueLimit: number;
  private written = 0;
  private last = -Infinity;

  /** Values from `valueLimit` on are no points of the curve: they leave mandatory stops out. */
  constructor(write: (line: string) => void, interval: number, valueLimit: number) {
    this.write = write;
    this.interval = interval;
    this.valueLimit = valueLimit;
  }

  /** Writes the newest incumbent if there is one that was not written and the interval has passed. */
  update(search: Search, final = false): void {
    const { history } = search;
    const seconds = search.elapsed();
    if (history.length === this.written || (!final && seconds - this.last < this.interval)) return;
    const point = history[history.length - 1];
    const kind = this.written === 0 ? 'first plan' : 'improved';
    this.written = history.length;
    this.last = seconds;
    const value = Number(point.value.toPrecision(10));
    this.write(`${kind}: iteration ${point.iteration}, ${point.seconds.toFixed(2)} s, value ${value}`);
    if (value < this.valueLimit) this.write(JSON.stringify({ series: { objective: value } }));
  }
}
