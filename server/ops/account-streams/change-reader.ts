/**
 * Reads the events of runs of all accounts, each once. PostgreSQL does not assign numbers in the order of commits: a number
 * that is missing may appear later, so the reader asks for it again for some seconds.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import {
  type EventPosition,
  findLastSeq,
  listChanges,
  type RunChangeRow,
} from '../../runs/streams/account-changes.ts';

/** Longer than a transaction that inserts events. A number that is missing by then was rolled back. */
const MISSING_MS = 10_000;
const MISSING_MAX = 50;
/** Events of one reading; of more, no reader gets the single changes. */
const CHANGES_MAX = 500;

/** The position of one reader of all events. */
export class ChangeReader {
  readonly #clock: Clock;
  #seq: number | null = null;
  /** The numbers that are missing, each with the time at which that was noticed. */
  readonly #missing = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The position after the last reading. */
  get position(): EventPosition {
    return { seq: this.#seq ?? 0, missing: [...this.#missing.keys()] };
  }

  /** Moves to the end of the events, where the next reading begins. */
  async moveToEnd(db: Reader): Promise<void> {
    this.#seq = await findLastSeq(db);
    this.#missing.clear();
  }

  /** Returns the new events; null when there are too many, and then moves to the end. */
  async read(db: Reader): Promise<RunChangeRow[] | null> {
    if (this.#seq === null) await this.moveToEnd(db);
    const rows = await listChanges(db, this.position, null, CHANGES_MAX + 1);
    if (rows.length > CHANGES_MAX) {
      await this.moveToEnd(db);
      return null;
    }
    this.#advance(rows.map(({ seq }) => seq));
    return rows;
  }

  #advance(seqs: readonly number[]): void {
    const now = this.#clock.elapsed();
    let last = this.#seq ?? 0;
    for (const seq of seqs) {
      this.#missing.delete(seq);
      for (let skipped = last + 1; skipped < seq && this.#missing.size < MISSING_MAX; skipped += 1)
        this.#missing.set(skipped, now);
      last = Math.max(last, seq);
    }
    for (const [seq, since] of this.#missing) if (now - since > MISSING_MS) this.#missing.delete(seq);
    this.#seq = last;
  }
}
