/**
 * Packing as a mixed-integer model: a 0/1 column for each slot (a bin of a certain type that may be used) and one for each
 * item in each slot. A type has as many slots as a packing cheaper than the known one could use.
 */
import { type BinType, fitsIn, type Item, type Problem } from './input.ts';
import { MipBuilder, type MipModel, type Term } from './mip.ts';
import { type Bin, type Packing, packingCost } from './packing.ts';

export interface PackingModel {
  mip: MipModel;
  toPacking(columns: Float64Array): Packing;
  /** Column values for a packing without items left over; null when it has more bins of a type than there are slots. */
  toColumns(packing: Packing): Float64Array | null;
}

interface Slot {
  type: BinType;
  used: number;
  /** Column by item index, for the items that fit into the type. */
  places: Map<number, number>;
}

/** Returns the number of slots of each type. */
export function countSlots(problem: Problem, known: Packing | null): Map<BinType, number> {
  const limit = known ? packingCost(known) : Number.POSITIVE_INFINITY;
  return new Map(
    problem.types.map((type) => {
      const affordable = type.cost > 0 ? Math.floor(limit / type.cost + 1e-9) : Number.POSITIVE_INFINITY;
      return [type, Math.min(type.quantity, problem.items.length, affordable)];
    }),
  );
}

/** Builds the model. `bound` is a proven lower bound on the cost. */
export function buildModel(problem: Problem, known: Packing | null, bound: number): PackingModel {
  const builder = new MipBuilder();
  const slots: Slot[] = [];
  for (const [type, count] of countSlots(problem, known)) {
    for (let number = 0; number < count; number += 1)
      slots.push(addSlot(builder, problem, type, slots.at(-1)));
  }
  for (const item of problem.items) {
    const places = slots.flatMap((slot): Term[] => {
      const column = slot.places.get(item.index);
      return column === undefined ? [] : [[column, 1]];
    });
    builder.addRow(1, 1, places);
  }
  const costs = slots.map((slot): Term => [slot.used, slot.type.cost]);
  builder.addRow(bound - 1e-6 * Math.max(1, bound), Number.POSITIVE_INFINITY, costs);

  const mip = builder.build();
  return {
    mip,
    toPacking: (columns) => ({
      bins: slots.flatMap((slot) => readSlot(problem, slot, columns) ?? []),
      left: [],
    }),
    toColumns: (packing) => writePacking(packing, slots, mip.cost.length),
  };
}

/** Adds a slot. Slots of one type are interchangeable, so the model uses them in order. */
function addSlot(builder: MipBuilder, problem: Problem, type: BinType, before: Slot | undefined): Slot {
  const used = builder.addBinaryColumn(type.cost);
  const able = problem.items.filter((item) => fitsIn(item.size, type));
  const places = new Map(able.map((item) => [item.index, builder.addBinaryColumn(0)]));
  const place = (item: Item): number => places.get(item.index) ?? 0;
  const none = Number.NEGATIVE_INFINITY;
  if (before?.type === type) {
    builder.addRow(0, Number.POSITIVE_INFINITY, [
      [before.used, 1],
      [used, -1],
    ]);
  }
  builder.addRow(none, 0, [[used, -type.capacity], ...able.map((item): Term => [place(item), item.size])]);
  if (type.itemsMaximum < able.length) {
    builder.addRow(none, 0, [[used, -type.itemsMaximum], ...able.map((item): Term => [place(item), 1])]);
  }
  for (const item of able) {
    builder.addRow(none, 0, [
      [place(item), 1],
      [used, -1],
    ]);
    for (const other of able) {
      if (other.index <= item.index || !item.conflicts.has(other.index)) continue;
      builder.addRow(none, 0, [
        [place(item), 1],
        [place(other), 1],
        [used, -1],
      ]);
    }
  }
  return { type, used, places };
}

function readSlot(problem: Problem, slot: Slot, columns: Float64Array): Bin | null {
  const items = problem.items.filter((item) => {
    const column = slot.places.get(item.index);
    return column !== undefined && (columns[column] ?? 0) > 0.5;
  });
  if (items.length === 0) return null;
  return { type: slot.type, items, load: items.reduce((sum, item) => sum + item.size, 0) };
}

function writePacking(packing: Packing, slots: readonly Slot[], size: number): Float64Array | null {
  const columns = new Float64Array(size);
  const free = [...slots];
  for (const bin of packing.bins) {
    const at = free.findIndex((slot) => slot.type === bin.type);
    const [slot] = at < 0 ? [] : free.splice(at, 1);
    if (!slot) return null;
    columns[slot.used] = 1;
    for (const item of bin.items) {
      const column = slot.places.get(item.index);
      if (column !== undefined) columns[column] = 1;
    }
  }
  return columns;
}
