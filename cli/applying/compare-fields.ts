/** The differences of two resources, field by field. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import type { Fields } from './resources/resource.ts';

/** A changed field, by its path with periods. Undefined: the side does not have it. */
export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

function flatten(fields: Fields, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const path = prefix + name;
    if (isRecord(value)) for (const [inner, one] of flatten(value, `${path}.`)) flat.set(inner, one);
    else if (value !== undefined) flat.set(path, value);
  }
  return flat;
}

/** Returns the fields that differ, in the order of their names. */
export function compareFields(current: Fields, wanted: Fields): FieldChange[] {
  const [before, after] = [flatten(current), flatten(wanted)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)))
    .toSorted()
    .map((field) => ({ field, from: before.get(field), to: after.get(field) }));
}
