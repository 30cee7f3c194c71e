/**
 * A lower bound on the cost: a small integer program that only counts bins of each type.
 *
 * Give every item a weight of at least zero and let a bin of type t hold at most v(t) weight in one packing; then the bins
 * used must hold at least the weight of all items together. Each such set of weights is one row, and no packing breaks
 * it. Weights used: the sizes, one for each item at least as big as some threshold, one for each item of a group that
 * must be kept apart, and sizes rounded to fractions of a bin (the dual feasible functions of Fekete and Schepers).
 */
import { type BinType, fitsIn, type Item, type Problem } from './input.ts';
import { MipBuilder, type MipModel } from './mip.ts';

type Weight = (item: Item) => number;

/** Work that one exact knapsack may take; beyond it a fractional one stands in, which only weakens the bound. */
const knapsackCellsMaximum = 2_000_000;

/** The most weight that the items can bring into one bin of the type; conflicts are ignored. */
function weightMaximum(items: readonly Item[], type: BinType, weight: Weight): number {
  const able = items.filter((item) => weight(item) > 0 && fitsIn(item.size, type));
  const heaviest = able.map(weight).sort((a, b) => b - a);
  const byCount = heaviest.slice(0, type.itemsMaximum).reduce((sum, value) => sum + value, 0);
  const whole = able.every((item) => Number.isInteger(item.size));
  const capacity = Math.floor(type.capacity);
  const bySize =
    whole && able.length * capacity <= knapsackCellsMaximum
      ? exactKnapsack(able, capacity, weight)
      : fractionalKnapsack(able, type.capacity, weight);
  return Math.min(byCount, bySize);
}

function exactKnapsack(items: readonly Item[], capacity: number, weight: Weight): number {
  const best = new Float64Array(capacity + 1);
  for (const item of items) {
    const value = weight(item);
    for (let room = capacity; room >= item.size; room -= 1) {
      best[room] = Math.max(best[room] ?? 0, (best[room - item.size] ?? 0) + value);
    }
  }
  return best[capacity] ?? 0;
}

function fractionalKnapsack(items: readonly Item[], capacity: number, weight: Weight): number {
  const densest = [...items].sort((a, b) => weight(b) * a.size - weight(a) * b.size);
  let room = capacity + 1e-9 * Math.max(1, capacity);
  let total = 0;
  for (const item of densest) {
    const share = item.size > 0 ? Math.min(1, room / item.size) : 1;
    total += share * weight(item);
    room -= share * item.size;
    if (share < 1) break;
  }
  return total;
}

/** A group of items each in conflict with all others, grown greedily from the item with the most conflicts. */
function apartGroup(items: readonly Item[]): Set<Item> {
  const group = new Set<Item>();
  for (const item of [...items].sort((a, b) => b.conflicts.size - a.conflicts.size)) {
    if ([...group].every((member) => member.conflicts.has(item.index))) group.add(item);
  }
  return group;
}

function weightsOf(problem: Problem): Weight[] {
  const { items, types } = problem;
  const weights: Weight[] = [(item) => item.size];
  const sizes = [...new Set(items.map((item) => item.size))].sort((a, b) => a - b);
  const step = Math.ceil(sizes.length / 60);
  for (const threshold of sizes.filter((_, index) => index % step === 0)) {
    weights.push((item) => (item.size >= threshold ? 1 : 0));
  }
  const apart = apartGroup(items);
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

/** The counting model; infeasible only when the problem is. */
export function buildBoundModel(problem: Problem): MipModel {
  const builder = new MipBuilder();
  const { items, types } = problem;
  const columns = types.map((type) => builder.addColumn(type.cost, 0, Math.min(type.quantity, items.length)));
  for (const weight of weightsOf(problem)) {
    const total = items.reduce((sum, item) => sum + weight(item), 0);
    const terms = types.map((type, t) => [columns[t] ?? 0, weightMaximum(items, type, weight)] as const);
    // What rounding errors take from one side is given back here, so that the row never cuts off a packing.
    builder.addRow(total - 1e-6 * Math.max(1, total), Number.POSITIVE_INFINITY, terms);
  }
  return builder.build();
}
