/** The input and its parser, which rejects everything else. README.md describes the format. */
import {
  InputError,
  parseList,
  parseNumber,
  parseObject,
  parseText,
  requireUniqueIds,
} from './json-parsing.ts';

export interface BinType {
  id: string;
  capacity: number;
  cost: number;
  /** Number of bins of this type; Infinity without a limit. */
  quantity: number;
  itemsMaximum: number;
}

export interface Item {
  /** Position in Problem.items. */
  index: number;
  id: string;
  size: number;
  /** Indices of the items that must not share a bin with it. */
  conflicts: Set<number>;
}

export interface Problem {
  types: BinType[];
  items: Item[];
}

/** Returns whether a size fits. The tolerance covers binary rounding of sizes that fit exactly. */
export function fitsIn(size: number, type: BinType): boolean {
  return size <= type.capacity + 1e-9 * Math.max(1, type.capacity);
}

function readType(value: unknown, path: string): BinType {
  const raw = parseObject(value, path, ['id', 'capacity', 'cost', 'quantity', 'max_items']);
  const whole = { minimum: 0, maximum: 1e6, whole: true, otherwise: Number.POSITIVE_INFINITY };
  return {
    id: parseText(raw.id, `${path}.id`),
    capacity: parseNumber(raw.capacity, `${path}.capacity`, { minimum: 0 }),
    cost: parseNumber(raw.cost, `${path}.cost`, { minimum: 0, maximum: 1e6 }),
    quantity: parseNumber(raw.quantity, `${path}.quantity`, whole),
    itemsMaximum: parseNumber(raw.max_items, `${path}.max_items`, { ...whole, minimum: 1 }),
  };
}

/** Parses the whole input. Throws InputError with the field, its value and the remedy. */
export function readProblem(value: unknown): Problem {
  const raw = parseObject(value, 'the input', ['bins', 'items', 'incompatibilities']);
  const types = parseList(raw.bins, 'bins').map((type, index) => readType(type, `bins[${index}]`));
  requireUniqueIds(
    types.map((type) => type.id),
    'bins',
  );
  const items = parseList(raw.items, 'items').map((entry, index): Item => {
    const path = `items[${index}]`;
    const item = parseObject(entry, path, ['id', 'size']);
    const id = parseText(item.id, `${path}.id`);
    return { index, id, size: parseNumber(item.size, `${path}.size`, { minimum: 0 }), conflicts: new Set() };
  });
  requireUniqueIds(
    items.map((item) => item.id),
    'items',
  );
  const byId = new Map(items.map((item) => [item.id, item]));
  const pairs = parseList(raw.incompatibilities, 'incompatibilities', true);
  for (const [index, pair] of pairs.entries()) {
    const path = `incompatibilities[${index}]`;
    const ids = parseList(pair, path);
    const [first, second] = ids.map((id, side) => {
      const item = byId.get(parseText(id, `${path}[${side}]`));
      if (!item) {
        throw new InputError(`${path}[${side}] is ${JSON.stringify(id)}: it must be the id of an item`);
      }
      return item;
    });
    if (!first || !second || ids.length !== 2 || first === second) {
      throw new InputError(`${path} is ${JSON.stringify(pair)}: it must be a pair of two different items`);
    }
    first.conflicts.add(second.index);
    second.conflicts.add(first.index);
  }
  return { types, items };
}
