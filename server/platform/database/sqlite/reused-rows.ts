/**
 * Reuses rows that every request reads, such as the caller's key, until the next commit. All requests between two group
 * commits read such a row once.
 *
 * Invariant: a read never misses a commit of this process. Another process writes to this database only by hand or for a
 * backup; the cache checks for its commits once in each turn of the event loop.
 */
const ENTRIES_MAX = 1000;

/** Caches rows by statement and values. */
export class ReusedRows {
  readonly #readDataVersion: () => number;
  readonly #rows = new Map<string, unknown[]>();
  #dataVersion = Number.NaN;
  #isChecked = false;

  /** `readDataVersion` returns a new number after each commit of another connection. */
  constructor(readDataVersion: () => number) {
    this.#readDataVersion = readDataVersion;
  }

  /** Drops all rows. Call it after each commit of this process. */
  clear(): void {
    this.#rows.clear();
  }

  /** Returns the cached rows, or the result of `read`. The rows are frozen. */
  get(sql: string, parameters: readonly unknown[], read: () => unknown[]): unknown[] {
    this.#clearAfterOtherCommits();
    const key = `${sql} ${JSON.stringify(parameters)}`;
    const known = this.#rows.get(key);
    if (known) return known;
    const rows = read();
    for (const row of rows) Object.freeze(row);
    if (this.#rows.size >= ENTRIES_MAX) this.#rows.clear();
    Object.freeze(rows);
    this.#rows.set(key, rows);
    return rows;
  }

  #clearAfterOtherCommits(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    setImmediate(() => {
      this.#isChecked = false;
    });
    const version = this.#readDataVersion();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    this.#rows.clear();
  }
}
