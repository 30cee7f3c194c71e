/**
 * A lower bound on the cost: a small integer program that only counts bins of each type.
 *
 * Give every item a weight of at least zero, and let a bin of type t hold at most weight v(t) in one packing. Then the used
 * bins must hold at least the weight of all items. Each set of weights is one row, which every packing satisfies. One set
 * has the sizes, others have 1 for each item above a threshold or of a group of pairwise conflicts. The last sets have
 * sizes rounded to fractions of a bin (the dual feasible functions of Fekete and Schepers).
 */
import { type BinType, fitsIn, type Item, type Problem } from './input.ts';
import { MipBuilder, type MipModel } from './mip.ts';

type Weight = (item: Item) => number;

/** Largest table of one exact knapsack; beyond it a fractional one replaces it, which only weakens the bound. */
const knapsackCellsMaximum = 2_000_000;

/** Returns the largest weight that fits into one bin of the type; ignores conflicts. */
function computeMaximumWeight(items: readonly Item[], type: BinType, weight: Weight): number {
  const fitting = items.filter((item) => weight(item) > 0 && fitsIn(item.size, type));
  const heaviest = fitting.map(weight).sort((a, b) => b - a);
  const byCount = heaviest.slice(0, type.itemsMaximum).reduce((sum, value) => sum + value, 0);
  const areWhole = fitting.every((item) => Number.isInteger(item.size));
  const capacity = Math.floor(type.capacity);
  const bySize =
    areWhole && fitting.length * capacity <= knapsackCellsMaximum
      ? exactKnapsack(fitting, capacity, weight)
      : fractionalKnapsack(fitting, type.capacity, weight);
  return Math.min(byCount, bySize);
}

function exactKnapsack(items: readonly Item[], capacity: number, weight: Weight): number {
  const best = new Float64Array(capacity + 1);
  for (const item of items) {
    const value = weight(item);
    for (let remaining = capacity; remaining >= item.size; remaining -= 1) {
      best[remaining] = Math.max(best[remaining] ?? 0, (best[remaining - item.size] ?? 0) + value);
    }
  }
  return best[capacity] ?? 0;
}

function fractionalKnapsack(items: readonly Item[], capacity: number, weight: Weight): number {
  const densest = [...items].sort((a, b) => weight(b) * a.size - weight(a) * b.size);
  let remaining = capacity + 1e-9 * Math.max(1, capacity);
  let total = 0;
  for (const item of densest) {
    const share = item.size > 0 ? Math.min(1, remaining / item.size) : 1;
    total += share * weight(item);
    remaining -= share * item.size;
    if (share < 1) break;
  }
  return total;
}

/** Returns items with pairwise conflicts, grown greedily from the item with the most conflicts. */
function findConflictGroup(items: readonly Item[]): Set<Item> {
  const group = new Set<Item>();
  for (const item of [...items].sort((a, b) => b.conflicts.size - a.conflicts.size)) {
    if ([...group].every((member) => member.conflicts.has(item.index))) group.add(item);
  }
  return group;
}

function listWeights(problem: Problem): Weight[] {
  const { items, types } = problem;
  const weights: Weight[] = [(item) => item.size];
  const sizes = [...new Set(items.map((item) => item.size))].sort((a, b) => a - b);
  const step = Math.ceil(sizes.length / 60);
  for (const threshold of sizes.filter((_, index) => index % step === 0)) {
    weights.push((item) => (item.size >= threshold ? 1 : 0));
  }
  const apart = findConflictGroup(items);
  if (apart.size > 1) weights.push((item) => (apart.has(item) ? 1 : 0));
  for (const { capacity } of types) {
    for (let parts = 1; parts <= 6 && capacity > 0; parts += 1) {
      weights.push(({ size }) => {
        const scaled = ((parts + 1) * size) / capacity;
        return Number.isInteger(scaled) ? size / capacity : Math.floor(scaled) / parts;
      });
    }
  }
  return weights;
}

/** Builds the counting model. It is infeasible only when the problem is. */
export function buildBoundModel(problem: Problem): MipModel {
  const builder = new MipBuilder();
  const { items, types } = problem;
  const columns = types.map((type) => builder.addColumn(type.cost, 0, Math.min(type.quantity, items.length)));
  for (const weight of listWeights(problem)) {
    const total = items.reduce((sum, item) => sum + weight(item), 0);
    const terms = types.map(
      (type, t) => [columns[t] ?? 0, computeMaximumWeight(items, type, weight)] as const,
    );
    // The tolerance covers rounding errors, so that the row never excludes a packing.
    builder.addRow(total - 1e-6 * Math.max(1, total), Number.POSITIVE_INFINITY, terms);
  }
  return builder.build();
}
