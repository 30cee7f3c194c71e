/** Reuses the results of probes, which start processes. */

/**
 * Results of one probe in this process, by subject and PATH. The host does not change during the life of a process. Without
 * the cache a process with many runners, such as a test, would spend most of their start on probes. Each probe starts a
 * process, at a cost in proportion to the memory of its parent.
 */
export class ProbeCache<T> {
  readonly #results = new Map<string, Promise<T>>();
  readonly #isCacheable: (result: T) => boolean;

  /** Further calls reuse the results for which `isCacheable` returns true. */
  constructor(isCacheable: (result: T) => boolean = () => true) {
    this.#isCacheable = isCacheable;
  }

  /** Returns the cached result, or probes. */
  probeOnce(subject: string, probe: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([subject, process.env.PATH]);
    const result = this.#results.get(key) ?? probe();
    this.#results.set(key, result);
    result.then(
      (value) => this.#isCacheable(value) || this.#results.delete(key),
      () => this.#results.delete(key),
    );
    return result;
  }
}
