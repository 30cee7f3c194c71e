/**
 * A sketch of the JSON of an input: hashes of its values with the fields that hold them, of which it keeps the smallest.
 * Inputs that share values share their hashes, so that sketches show how much of two contents is equal (Broder, "On the
 * resemblance and containment of documents", 1997). Places in arrays do not count: an inserted entry changes no other. Pure.
 */

import { INPUT_PROPERTY_CHARS_MAX } from '@switchyard/contract/limits.ts';

/** The sketch of one input. */
export interface ContentSketch {
  /** Different hashes, ascending. */
  hashes: number[];
  /** No hash of the input up to this one is missing. */
  complete_to: number;
  /** Values of fields outside of arrays that are a text, a number or a flag, by JSON Pointer; the shallowest fields. */
  fields: Record<string, string>;
}

const HASHES_MAX = 2048;
const HASH_MAX = 2 ** 32;
/** More fields, and longer values, are no candidates for `cluster_by`. */
const FIELDS_MAX = 100;
const VALUE_CHARS_MAX = 64;

interface Visit {
  value: unknown;
  hash: number;
  /** Null inside of arrays, and where it would be too long. */
  pointer: string | null;
}

/**
 * Returns the sketch of a parsed input. The visits go level by level: the fields that a reader would name are shallow, and an
 * input can nest deeper than calls.
 */
export function sketchContent(input: unknown): ContentSketch {
  const hashes = new Set<number>();
  const fields: Record<string, string> = {};
  let fieldCount = 0;
  for (let level: Visit[] = [{ value: input, hash: 0x811c9dc5, pointer: '' }]; level.length > 0; ) {
    const next: Visit[] = [];
    for (const { value, hash, pointer } of level) {
      if (typeof value === 'object' && value !== null) {
        pushEntries(next, { value, hash, pointer });
        continue;
      }
      const text = String(value);
      hashes.add(extendHash(hash, `=${typeof value} ${text}`));
      if (pointer && fieldCount < FIELDS_MAX && text.length <= VALUE_CHARS_MAX) {
        fields[pointer] = text;
        fieldCount += 1;
      }
    }
    level = next;
  }
  const ascending = Array.from(hashes).sort((a, b) => a - b);
  const smallest = ascending.slice(0, HASHES_MAX);
  return {
    hashes: smallest,
    complete_to: ascending.length > HASHES_MAX ? (smallest.at(-1) ?? 0) : HASH_MAX,
    fields,
  };
}

function pushEntries(visits: Visit[], { value, hash, pointer }: Visit & { value: object }): void {
  if (Array.isArray(value)) {
    const inner = extendHash(hash, '[]');
    for (const entry of value) visits.push({ value: entry, hash: inner, pointer: null });
  } else
    for (const [key, entry] of Object.entries(value))
      visits.push({ value: entry, hash: extendHash(hash, `/${key}`), pointer: extendPointer(pointer, key) });
}

/** Returns null where `cluster_by` cannot name the field: such pointers of a deep input would be as long as the input. */
function extendPointer(pointer: string | null, key: string): string | null {
  if (pointer === null || pointer.length + key.length >= INPUT_PROPERTY_CHARS_MAX) return null;
  const extended = `${pointer}/${escapeKey(key)}`;
  return extended.length > INPUT_PROPERTY_CHARS_MAX ? null : extended;
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Continues a hash of 32 bits (FNV-1a, then the finalizer of MurmurHash3, so that small hashes are a fair sample). */
function extendHash(hash: number, text: string): number {
  let hashed = hash;
  for (let index = 0; index < text.length; index += 1)
    hashed = Math.imul(hashed ^ text.charCodeAt(index), 0x01000193);
  hashed = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b);
  hashed = Math.imul(hashed ^ (hashed >>> 13), 0xc2b2ae35);
  return (hashed ^ (hashed >>> 16)) >>> 0;
}
