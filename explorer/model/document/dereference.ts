import { isJsonObject, type JsonObject } from './json.ts';

/** What a reference led to. `pointers` are the references followed, first to last; `fault` says why it led nowhere. */
export type Dereferenced = { value: unknown; pointers: readonly string[]; fault?: string };

function decoded(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // A stray percent sign is part of the name.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** What a pointer such as `#/components/schemas/Pet` leads to, or undefined. */
function atPointer(document: unknown, pointer: string): { value: unknown } | undefined {
  let value = document;
  for (const part of pointer.split('/').slice(1).map(decoded)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return { value };
}

/**
 * Follows `$ref` to what it means. Members beside a `$ref` are ignored by OpenAPI 3.0, yet authors write descriptions
 * there to be read: they are laid over what the reference leads to.
 */
export function dereference(document: unknown, value: unknown): Dereferenced {
  const pointers: string[] = [];
  let beside: JsonObject = {};
  let at = value;
  while (isJsonObject(at) && Object.hasOwn(at, '$ref') && typeof at.$ref === 'string') {
    const { $ref: ref, ...others } = at;
    if (typeof ref !== 'string') break;
    beside = { ...others, ...beside };
    if (pointers.includes(ref)) {
      return { value: undefined, pointers, fault: `The reference ${ref} leads back to itself.` };
    }
    pointers.push(ref);
    if (ref !== '#' && !ref.startsWith('#/')) {
      return {
        value: undefined,
        pointers,
        fault: `The reference ${ref} leads out of this document and was not followed.`,
      };
    }
    const found = atPointer(document, ref);
    if (!found) {
      return { value: undefined, pointers, fault: `The reference ${ref} leads to nothing in this document.` };
    }
    at = found.value;
  }
  if (isJsonObject(at) && Object.keys(beside).length > 0) return { value: { ...at, ...beside }, pointers };
  return { value: at, pointers };
}

/** The name of what a pointer leads to: its last part. */
export function getPointerName(pointer: string): string {
  return decoded(pointer.split('/').at(-1) ?? pointer);
}
