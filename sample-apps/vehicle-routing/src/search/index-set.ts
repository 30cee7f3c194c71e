/** A set of indices 0..n-1 in one array: adding, removing and walking it cost nothing worth counting. */
export class IndexSet {
  readonly items: Int32Array;
  count = 0;
  private readonly at: Int32Array;

  constructor(limit: number) {
    this.items = new Int32Array(limit);
    this.at = new Int32Array(limit).fill(-1);
  }

  has(item: number): boolean {
    return this.at[item] >= 0;
  }

  add(item: number): void {
    if (this.at[item] >= 0) return;
    this.at[item] = this.count;
    this.items[this.count++] = item;
  }

  remove(item: number): void {
    const at = this.at[item];
    if (at < 0) return;
    const last = this.items[--this.count];
    this.items[at] = last;
    this.at[last] = at;
    this.at[item] = -1;
  }
}
