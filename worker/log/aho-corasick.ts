/**
 * The automaton of Aho and Corasick ("Efficient string matching", CACM 18(6), 1975). It finds every occurrence of many
 * patterns in one pass, in time independent of their number. The same caller chooses secrets and logs: with a search that
 * takes the product of both, one caller could block the others.
 */

const ROOT = 0;

/** A trie of the patterns with failure links. A node stands for the prefix of a pattern that ends at the current byte. */
export class AhoCorasick {
  /** Maps `node * 256 + byte` to the next node. */
  readonly #edges = new Map<number, number>();
  /** The failure link of each node: the longest proper suffix of its text that is a prefix of a pattern. */
  readonly #failureLinks: number[] = [ROOT];
  readonly #depth: number[] = [0];
  /** For each node the length of the longest pattern that ends there, or 0. */
  readonly #longestMatch: number[] = [0];
  /** 1 for each first byte of a pattern. Most bytes of a log are none, and this lookup is faster than a map. */
  readonly #firstBytes = new Uint8Array(256);

  constructor(patterns: readonly Buffer[]) {
    const nodes: { node: number; parent: number; byte: number }[] = [];
    for (const pattern of patterns) {
      this.#firstBytes[pattern[0] ?? 0] = 1;
      let node = ROOT;
      for (const byte of pattern) {
        let next = this.#edges.get(node * 256 + byte);
        if (next === undefined) {
          next = this.#depth.length;
          this.#edges.set(node * 256 + byte, next);
          this.#depth.push(this.depth(node) + 1);
          this.#longestMatch.push(0);
          nodes.push({ node: next, parent: node, byte });
        }
        node = next;
      }
      this.#longestMatch[node] = pattern.length;
    }
    // By depth, because the failure link of a node depends on the links of shallower nodes.
    nodes.sort((one, other) => this.depth(one.node) - this.depth(other.node));
    for (const { node, parent, byte } of nodes) {
      this.#failureLinks[node] = parent === ROOT ? ROOT : this.step(this.#failureLinks[parent] ?? ROOT, byte);
      this.#longestMatch[node] ||= this.longest(this.#failureLinks[node] ?? ROOT);
    }
  }

  /** Returns the node after one more byte. A search starts at node 0. */
  step(from: number, byte: number): number {
    if (from === ROOT && this.#firstBytes[byte] === 0) return ROOT;
    for (let node = from; ; node = this.#failureLinks[node] ?? ROOT) {
      const next = this.#edges.get(node * 256 + byte);
      if (next !== undefined) return next;
      if (node === ROOT) return ROOT;
    }
  }

  /** Returns the number of last bytes that can be the start of a pattern. */
  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  /** Returns the length of the longest pattern that ends with the last byte; 0 when none does. */
  longest(node: number): number {
    return this.#longestMatch[node] ?? 0;
  }
}
