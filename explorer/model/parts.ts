import { type Dict, isDict } from './json.ts';
import { follow } from './reference.ts';

/** A schema taken apart: itself and everything its `allOf` joins to it, with references followed. */
export type Parts = { parts: readonly Dict[]; faults: readonly string[]; odd: readonly unknown[] };

/**
 * The schemas that all hold for a value. A schema that is absent, `true` or empty allows everything and has nothing to
 * say; what is no schema at all comes back as `odd`.
 */
export function partsOf(document: unknown, schema: unknown, around: readonly string[] = []): Parts {
  const { value, pointers, fault } = follow(document, schema);
  if (fault !== undefined) return { parts: [], faults: [fault], odd: [] };
  const again = pointers.find((pointer) => around.includes(pointer));
  if (again !== undefined) {
    return {
      parts: [],
      faults: [`The schema ${again} holds itself by allOf, so it cannot be read.`],
      odd: [],
    };
  }
  if (value === undefined || value === true) return { parts: [], faults: [], odd: [] };
  if (!isDict(value)) return { parts: [], faults: [], odd: [value] };
  const inside = [...around, ...pointers];
  const joined = Array.isArray(value.allOf) ? value.allOf : [];
  const all = joined.map((part: unknown) => partsOf(document, part, inside));
  return {
    parts: [value, ...all.flatMap(({ parts }) => parts)],
    faults: all.flatMap(({ faults }) => faults),
    odd: all.flatMap(({ odd }) => odd),
  };
}

/**
 * The reference that names a schema: its own, or that of the only part of an `allOf`, which is how OpenAPI 3.0 authors
 * put a description beside a reference.
 */
export function pointerOf(document: unknown, schema: unknown): string | undefined {
  const { value, pointers } = follow(document, schema);
  const own = pointers[0];
  if (own !== undefined || !isDict(value) || !Array.isArray(value.allOf) || value.allOf.length !== 1)
    return own;
  if ('properties' in value || 'oneOf' in value || 'anyOf' in value) return undefined;
  return follow(document, value.allOf[0]).pointers[0];
}

/** The lists of alternatives that schemas offer. */
export function variantsOf(parts: readonly Dict[]): unknown[] {
  return parts.flatMap(({ oneOf, anyOf }) =>
    [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : [])),
  );
}
