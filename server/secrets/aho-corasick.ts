/**
 * Finds every occurrence of many patterns in bytes, in one pass however many patterns there are (the automaton of Aho and
 * Corasick). Secrets and logs are made by the same people; a search whose time grew with both would let them hold up others.
 */

const ROOT = 0;

export class AhoCorasick {
  /** `node * 256 + byte` → the node after it. */
  readonly #edges = new Map<number, number>();
  /** For each node the one of the longest shorter beginning of a pattern that it ends with. */
  readonly #back: number[] = [ROOT];
  readonly #depth: number[] = [0];
  /** For each node the length of the longest pattern that ends there, or 0. */
  readonly #longestMatch: number[] = [0];
  /** 1 for each byte a pattern begins with: most bytes of a log are none, and need no more than this look. */
  readonly #begins = new Uint8Array(256);

  constructor(patterns: readonly Buffer[]) {
    const made: { node: number; parent: number; byte: number }[] = [];
    for (const pattern of patterns) {
      this.#begins[pattern[0] ?? 0] = 1;
      let node = ROOT;
      for (const byte of pattern) {
        let next = this.#edges.get(node * 256 + byte);
        if (next === undefined) {
          next = this.#depth.length;
          this.#edges.set(node * 256 + byte, next);
          this.#depth.push(this.depth(node) + 1);
          this.#longestMatch.push(0);
          made.push({ node: next, parent: node, byte });
        }
        node = next;
      }
      this.#longestMatch[node] = pattern.length;
    }
    // From the root outward, because each node needs those nearer to it.
    made.sort((one, other) => this.depth(one.node) - this.depth(other.node));
    for (const { node, parent, byte } of made) {
      this.#back[node] = parent === ROOT ? ROOT : this.step(this.#back[parent] ?? ROOT, byte);
      this.#longestMatch[node] ||= this.longest(this.#back[node] ?? ROOT);
    }
  }

  /** The node after one more byte. A search begins at 0. */
  step(from: number, byte: number): number {
    if (from === ROOT && this.#begins[byte] === 0) return ROOT;
    for (let node = from; ; node = this.#back[node] ?? ROOT) {
      const next = this.#edges.get(node * 256 + byte);
      if (next !== undefined) return next;
      if (node === ROOT) return ROOT;
    }
  }

  /** How many of the last bytes may be the beginning of a pattern. */
  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  /** The length of the longest pattern that ends with the last byte; 0 when none does. */
  longest(node: number): number {
    return this.#longestMatch[node] ?? 0;
  }
}
