/**
 * Rows of reads that every request makes, such as that of the caller's key: reused until something is committed. While
 * nobody writes, and for all requests between two group commits, such a row is read once.
 *
 * Invariant: what this process has committed is never hidden. Another process writes here only by hand or for a backup;
 * its commits are looked for once in a turn of the event loop.
 */
const ENTRIES_MAX = 1000;

export class ReusedRows {
  readonly #readDataVersion: () => number;
  readonly #rows = new Map<string, unknown[]>();
  #dataVersion = Number.NaN;
  #isChecked = false;

  /** `readDataVersion` returns another number after each commit of another connection. */
  constructor(readDataVersion: () => number) {
    this.#readDataVersion = readDataVersion;
  }

  /** Call it after each commit of this process. */
  clear(): void {
    this.#rows.clear();
  }

  /** Returns the rows that were read before, or what `read` returns. Nobody may change them. */
  get(sql: string, parameters: readonly unknown[], read: () => unknown[]): unknown[] {
    this.#clearAfterOthers();
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

  #clearAfterOthers(): void {
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
