/** Caches the results of experiments that have not ended, until their runs change. */

const EXPERIMENTS_MAX = 16;

/** The results of the most recently requested experiments; evicts the least recently requested one. */
export class ResultsCache {
  readonly #entries = new Map<string, { key: string; results: Promise<string> }>();

  /**
   * Returns the cached results with this key, otherwise those that `compute` returns. Concurrent calls share one
   * computation. A failed computation is not cached.
   */
  getOrCompute(experimentUid: string, key: string, compute: () => Promise<string>): Promise<string> {
    const cached = this.#entries.get(experimentUid);
    // A Map iterates in the order of insertion, so the reinserted entry is the most recent one.
    this.#entries.delete(experimentUid);
    const entry = cached?.key === key ? cached : { key, results: compute() };
    this.#entries.set(experimentUid, entry);
    if (this.#entries.size > EXPERIMENTS_MAX) this.#entries.delete(this.#entries.keys().next().value ?? '');
    if (entry !== cached)
      entry.results.catch(() => {
        if (this.#entries.get(experimentUid) === entry) this.#entries.delete(experimentUid);
      });
    return entry.results;
  }

  /** Removes the results of the experiment, which has ended or was deleted. */
  evict(experimentUid: string): void {
    this.#entries.delete(experimentUid);
  }
}
