/** A packing: bins of certain types with their items, and items without a bin. */
import { type BinType, fitsIn, type Item, type Problem } from './input.ts';

/** `load` is always the sum of the sizes of `items`. */
export interface Bin {
  type: BinType;
  items: Item[];
  load: number;
}

export interface Packing {
  bins: Bin[];
  /** Items without a bin; a packing is a solution only when there are none. */
  left: Item[];
}

export function packingCost(packing: Packing): number {
  return packing.bins.reduce((sum, bin) => sum + bin.type.cost, 0);
}

/** Returns whether the item may be added to the bin. */
export function canAdd(bin: Bin, item: Item): boolean {
  if (bin.items.length >= bin.type.itemsMaximum || !fitsIn(bin.load + item.size, bin.type)) return false;
  if (item.conflicts.size === 0) return true;
  return bin.items.every((other) => !item.conflicts.has(other.index));
}

/** Counts the bins of each type. */
export function countTypes(bins: readonly Bin[]): Map<BinType, number> {
  const used = new Map<BinType, number>();
  for (const { type } of bins) used.set(type, (used.get(type) ?? 0) + 1);
  return used;
}

/** Changes each bin to the cheapest type that holds its items, within the quantities. */
export function assignCheapestTypes(problem: Problem, bins: Bin[]): void {
  const used = countTypes(bins);
  const cheapestFirst = [...problem.types].sort((a, b) => a.cost - b.cost);
  for (const bin of bins) {
    const better = cheapestFirst.find(
      (type) =>
        type.cost < bin.type.cost &&
        fitsIn(bin.load, type) &&
        bin.items.length <= type.itemsMaximum &&
        (used.get(type) ?? 0) < type.quantity,
    );
    if (!better) continue;
    used.set(bin.type, (used.get(bin.type) ?? 0) - 1);
    used.set(better, (used.get(better) ?? 0) + 1);
    bin.type = better;
  }
}
