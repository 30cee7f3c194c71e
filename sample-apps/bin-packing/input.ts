/** The input: what it holds, and the reader that refuses anything else. README.md says the same in words. */
import { asList, asNumber, asObject, asText, InputError, refuseDuplicates } from './checks.ts';

export interface BinType {
  id: string;
  capacity: number;
  cost: number;
  /** How many there are; Infinity when there are as many as one likes. */
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

/** What fits exactly on paper may overrun by a rounding error in binary; that little is forgiven. */
export function fits(size: number, type: BinType): boolean {
  return size <= type.capacity + 1e-9 * Math.max(1, type.capacity);
}

function readType(value: unknown, path: string): BinType {
  const raw = asObject(value, path, ['id', 'capacity', 'cost', 'quantity', 'max_items']);
  const whole = { minimum: 0, maximum: 1e6, whole: true, otherwise: Number.POSITIVE_INFINITY };
  return {
    id: asText(raw.id, `${path}.id`),
    capacity: asNumber(raw.capacity, `${path}.capacity`, { minimum: 0 }),
    cost: asNumber(raw.cost, `${path}.cost`, { minimum: 0, maximum: 1e6 }),
    quantity: asNumber(raw.quantity, `${path}.quantity`, whole),
    itemsMaximum: asNumber(raw.max_items, `${path}.max_items`, { ...whole, minimum: 1 }),
  };
}

/** Reads the whole input. Throws InputError with the field, its value and what would be right. */
export function readProblem(value: unknown): Problem {
  const raw = asObject(value, 'the input', ['bins', 'items', 'incompatibilities']);
  const types = asList(raw.bins, 'bins').map((type, index) => readType(type, `bins[${index}]`));
  refuseDuplicates(
    types.map((type) => type.id),
    'bins',
  );
  const items = asList(raw.items, 'items').map((entry, index): Item => {
    const path = `items[${index}]`;
    const item = asObject(entry, path, ['id', 'size']);
    const id = asText(item.id, `${path}.id`);
    return { index, id, size: asNumber(item.size, `${path}.size`, { minimum: 0 }), conflicts: new Set() };
  });
  refuseDuplicates(
    items.map((item) => item.id),
    'items',
  );
  const byId = new Map(items.map((item) => [item.id, item]));
  const pairs = asList(raw.incompatibilities, 'incompatibilities', true);
  for (const [index, pair] of pairs.entries()) {
    const path = `incompatibilities[${index}]`;
    const ids = asList(pair, path);
    const [first, second] = ids.map((id, side) => {
      const item = byId.get(asText(id, `${path}[${side}]`));
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
