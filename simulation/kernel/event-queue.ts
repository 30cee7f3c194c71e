/** The events of a simulation by their time: a binary heap. */

/** An event that waits for its time. */
export interface TimedEvent {
  at: number;
  /** Orders events of one time. */
  tie: number;
  /** Appears in the trace. */
  label: string;
  run(): void;
  isCanceled: boolean;
  /** The event may run together with the one before it. */
  joins: boolean;
}

const precedes = (one: TimedEvent, other: TimedEvent): boolean =>
  one.at < other.at || (one.at === other.at && one.tie < other.tie);

/** Events in the order of their times. */
export class EventQueue {
  readonly #heap: TimedEvent[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** Returns the next event, which stays in the queue; undefined for none. */
  peek(): TimedEvent | undefined {
    while (this.#heap[0]?.isCanceled) this.#removeFirst();
    return this.#heap[0];
  }

  add(event: TimedEvent): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (!above || !precedes(event, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = event;
  }

  /** Removes the next event and returns it. */
  take(): TimedEvent | undefined {
    const first = this.peek();
    if (first) this.#removeFirst();
    return first;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (!left) break;
      let least = left;
      if (right && precedes(right, left)) {
        least = right;
        child += 1;
      }
      if (!precedes(least, last)) break;
      heap[place] = least;
      place = child;
    }
    heap[place] = last;
  }
}
