/**
 * First-fit and best-fit decreasing for the first packings, then ruin and recreate: empty a few bins, pack their items
 * again, and keep the packing unless it is worse. Deterministic for a seed and a number of rounds.
 */
import { type BinType, fitsIn, type Item, type Problem } from './input.ts';
import { assignCheapestTypes, type Bin, canAdd, countTypes, type Packing, packingCost } from './packing.ts';

/** Uniform numbers from 0 up to but not including 1, the same for the same seed. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Selects one of the available types into which an item fits; undefined when there is none. */
type TypeRule = (candidates: readonly BinType[], item: Item) => BinType | undefined;
type BinRule = (candidates: readonly Bin[]) => Bin | undefined;

function bestBy<T>(values: readonly T[], rank: (value: T) => number): T | undefined {
  let best: T | undefined;
  let bestRank = Number.POSITIVE_INFINITY;
  for (const value of values) {
    const valueRank = rank(value);
    if (best === undefined || valueRank < bestRank) {
      best = value;
      bestRank = valueRank;
    }
  }
  return best;
}

const firstFit: BinRule = (candidates) => candidates[0];
const bestFit: BinRule = (candidates) => bestBy(candidates, (bin) => bin.type.capacity - bin.load);

/** Cheapest type per unit of capacity. */
const cheapestPerUnit: TypeRule = (candidates) => bestBy(candidates, (type) => type.cost / type.capacity);
const cheapest: TypeRule = (candidates) => bestBy(candidates, (type) => type.cost);
const largest: TypeRule = (candidates) => bestBy(candidates, (type) => -type.capacity);

/** Packs the items one by one into `bins`, which it changes; returns the items without a bin. */
function insert(
  problem: Problem,
  bins: Bin[],
  items: readonly Item[],
  { chooseBin, chooseType }: { chooseBin: BinRule; chooseType: TypeRule },
): Item[] {
  const used = countTypes(bins);
  const left: Item[] = [];
  for (const item of items) {
    const open = bins.filter((bin) => canAdd(bin, item));
    let bin = chooseBin(open);
    if (!bin) {
      const types = problem.types.filter(
        (type) => fitsIn(item.size, type) && (used.get(type) ?? 0) < type.quantity,
      );
      const type = chooseType(types, item);
      if (!type) {
        left.push(item);
        continue;
      }
      used.set(type, (used.get(type) ?? 0) + 1);
      bin = { type, items: [], load: 0 };
      bins.push(bin);
    }
    bin.items.push(item);
    bin.load += item.size;
  }
  return left;
}

/** Compares by items without a bin, then by cost, then by unequal loads, which help to empty bins. */
function isNoWorse(candidate: Packing, current: Packing): boolean {
  if (candidate.left.length !== current.left.length) return candidate.left.length < current.left.length;
  const difference = packingCost(candidate) - packingCost(current);
  if (Math.abs(difference) > 1e-9) return difference < 0;
  return concentration(candidate) >= concentration(current) * 0.9999;
}

function concentration(packing: Packing): number {
  return packing.bins.reduce(
    (sum, { load, type }) => sum + (type.capacity > 0 ? load * (load / type.capacity) : 0),
    0,
  );
}

/** Returns the best packing of several decreasing rules. */
export function buildFirstPacking(problem: Problem): Packing {
  const decreasing = [...problem.items].sort(
    (a, b) => b.size - a.size || b.conflicts.size - a.conflicts.size,
  );
  const rules: TypeRule[] = [cheapestPerUnit, cheapest, largest];
  for (const preferred of problem.types) {
    rules.push((candidates, item) =>
      candidates.includes(preferred) ? preferred : cheapestPerUnit(candidates, item),
    );
  }
  let best: Packing | undefined;
  for (const chooseBin of [firstFit, bestFit]) {
    for (const chooseType of rules) {
      const bins: Bin[] = [];
      const left = insert(problem, bins, decreasing, { chooseBin, chooseType });
      assignCheapestTypes(problem, bins);
      const packing = { bins, left };
      if (!best || isNoWorse(packing, best)) best = packing;
    }
  }
  return best ?? { bins: [], left: [...problem.items] };
}

/** Performs one round of ruin and recreate on a copy; `current` stays unchanged. */
export function ruinAndRecreate(problem: Problem, current: Packing, random: Random): Packing {
  const bins = current.bins.map((bin) => ({ ...bin, items: [...bin.items] }));
  const loose = [...current.left];
  const emptied = Math.min(bins.length, 1 + Math.floor(random() * 4));
  for (let count = 0; count < emptied; count += 1) {
    // Empties the bin with more free space of two random ones: such bins are easiest to save.
    const [one, other] = [Math.floor(random() * bins.length), Math.floor(random() * bins.length)];
    const readFreeSpace = (at: number) => (bins[at] ? bins[at].type.capacity - bins[at].load : 0);
    const [bin] = bins.splice(readFreeSpace(one) >= readFreeSpace(other) ? one : other, 1);
    loose.push(...(bin?.items ?? []));
  }
  for (const bin of bins) {
    if (random() > 0.3 || bin.items.length === 0) continue;
    const [item] = bin.items.splice(Math.floor(random() * bin.items.length), 1);
    if (!item) continue;
    bin.load = bin.items.reduce((sum, other) => sum + other.size, 0);
    loose.push(item);
  }
  const remainingBins = bins.filter((bin) => bin.items.length > 0);
  const noise = random() < 0.5 ? 0.1 : 0.5;
  const order = loose.map((item) => ({ item, rank: item.size * (1 + noise * (random() - 0.5)) }));
  order.sort((a, b) => b.rank - a.rank);
  const looseFit: BinRule = (candidates) => {
    const tried = candidates.filter(() => random() < 0.95);
    return bestFit(tried.length > 0 ? tried : candidates);
  };
  const anyType: TypeRule = (candidates, item) =>
    random() < 0.6 ? cheapestPerUnit(candidates, item) : candidates[Math.floor(random() * candidates.length)];
  const left = insert(
    problem,
    remainingBins,
    order.map(({ item }) => item),
    { chooseBin: looseFit, chooseType: anyType },
  );
  assignCheapestTypes(problem, remainingBins);
  const candidate = { bins: remainingBins, left };
  return isNoWorse(candidate, current) ? candidate : current;
}
