/** The runs of a simulation that occupy a slot, by their end. */
export interface SimulatedEnd {
  end: number;
}

export class EndTimes<T extends SimulatedEnd> {
  /** A binary heap. */
  readonly #heap: T[] = [];

  /** The end of the first run; infinite without one. */
  get first(): number {
    return this.#heap[0]?.end ?? Number.POSITIVE_INFINITY;
  }

  add(run: T): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (!above || above.end <= run.end) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = run;
  }

  removeFirst(): T | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!last || last === first) return first;
    let index = 0;
    while (true) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (this.#findEnd(child + 1) < this.#findEnd(child)) child += 1;
      const below = heap[child];
      if (!below || below.end >= last.end) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }

  #findEnd(index: number): number {
    return this.#heap[index]?.end ?? Number.POSITIVE_INFINITY;
  }
}
