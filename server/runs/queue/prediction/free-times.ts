/** The times at which the slots of a pool become free in a simulation. */
export class FreeTimes {
  /** A binary heap. */
  readonly #heap: Float64Array;

  /** The times in ascending order, which are a heap; the array is changed. */
  constructor(ascending: Float64Array) {
    this.#heap = ascending;
  }

  /** The time at which the next slot becomes free; infinite without slots. */
  get first(): number {
    return this.#heap[0] ?? Number.POSITIVE_INFINITY;
  }

  /** The time at which a second slot becomes free; infinite with fewer than two. */
  get second(): number {
    return Math.min(this.#heap[1] ?? Number.POSITIVE_INFINITY, this.#heap[2] ?? Number.POSITIVE_INFINITY);
  }

  /** Occupies the slot that becomes free first, until the time. */
  occupyFirst(until: number): void {
    const heap = this.#heap;
    let index = 0;
    while (true) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && at(heap, child + 1) < at(heap, child)) child += 1;
      if (at(heap, child) >= until) break;
      heap[index] = at(heap, child);
      index = child;
    }
    heap[index] = until;
  }
}

/** Returns a number at an index that exists. */
function at(numbers: Float64Array, index: number): number {
  return numbers[index] ?? 0;
}
