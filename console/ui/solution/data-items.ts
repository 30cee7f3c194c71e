/** Reads the objects at a path of an output, and their fields. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

/** No view shows more objects than this. */
const ITEMS_MAX = 50_000;

type Json = Readonly<Record<string, unknown>>;

/** An object of the data, with the objects around it from the inside to the outside. */
export interface DataItem {
  value: Json;
  parents: readonly Json[];
}

/** A fact of an object that a table shows. */
export type Fact = readonly [name: string, value: string | number | boolean];

/**
 * Returns the objects at a path, in their order. A name leads into an object; `[]` after it leads into each object of a
 * list. The last list needs no `[]`. Returns undefined when nothing is there.
 */
export function listItems(root: unknown, path: string): DataItem[] | undefined {
  let items: { value: unknown; parents: readonly Json[] }[] = [{ value: root, parents: [] }];
  for (const part of path.split('.')) {
    const isList = part.endsWith('[]');
    const name = isList ? part.slice(0, -2) : part;
    items = items.flatMap(({ value, parents }) => {
      if (!isRecord(value) || !Object.hasOwn(value, name)) return [];
      const inner = { value: value[name], parents: [value, ...parents] };
      return isList ? spread(inner) : [inner];
    });
  }
  if (items.length === 0) return undefined;
  return items
    .flatMap(spread)
    .slice(0, ITEMS_MAX)
    .flatMap(({ value, parents }) => (isRecord(value) ? [{ value, parents }] : []));
}

function spread(item: { value: unknown; parents: readonly Json[] }) {
  const { value, parents } = item;
  if (!Array.isArray(value)) return [item];
  const inner: readonly unknown[] = value;
  return inner.map((one) => ({ value: one, parents }));
}

/** Returns the first field with one of the names that the object has; a dot in a name leads into an object. */
export function readField(value: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    let found: unknown = value;
    for (const part of name.split('.'))
      found = isRecord(found) && Object.hasOwn(found, part) ? found[part] : undefined;
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/** Returns a field of an item; one that it lacks is read from the objects around it. */
export function readItemField(item: DataItem, names: readonly string[]): unknown {
  for (const value of [item.value, ...item.parents]) {
    const found = readField(value, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a text or number as the name of something; undefined for anything else. */
export function toName(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Returns the fields that are a text, a number or a flag. */
export function listFacts(value: Json, except: readonly string[] = []): Fact[] {
  const facts: Fact[] = [];
  for (const [name, one] of Object.entries(value))
    if (
      (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean') &&
      !except.includes(name)
    )
      facts.push([name, one]);
  return facts;
}
