/** Progress for people, as lines on stderr: at most one in `interval` seconds, and the last state before it ends. */
import type { Search } from '../search/search.ts';

export class ProgressLog {
  private readonly write: (line: string) => void;
  private readonly interval: number;
  private written = 0;
  private last = -Infinity;

  constructor(write: (line: string) => void, interval: number) {
    this.write = write;
    this.interval = interval;
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
    this.write(
      `${kind}: iteration ${point.iteration}, ${point.seconds.toFixed(2)} s, value ${Number(point.value.toPrecision(10))}`,
    );
  }
}
