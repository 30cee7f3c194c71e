import { getOwnMember, isJsonObject, type JsonObject } from './json.ts';

/** The target of a reference. `pointers` are the references followed, first to last; `fault` says why there is no target. */
export type Dereferenced = { value: unknown; pointers: readonly string[]; fault?: string };

/** Decodes one part of a JSON pointer in a URI fragment (RFC 6901, section 6). */
function decodePart(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // A percent sign that escapes nothing is part of the name.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Finds the value at a pointer such as `#/components/schemas/Pet`, or returns undefined. */
function findAtPointer(document: unknown, pointer: string): { value: unknown } | undefined {
  let value = document;
  for (const part of pointer.split('/').slice(1).map(decodePart)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return { value };
}

/**
 * Follows `$ref` to its target; any other value is its own target. OpenAPI 3.0 ignores members beside a `$ref`, but
 * authors write descriptions there, so these members replace those of the target.
 */
export function dereference(document: unknown, value: unknown): Dereferenced {
  const pointers: string[] = [];
  let siblings: JsonObject = {};
  let target = value;
  for (let ref = getReference(target); ref !== undefined; ref = getReference(target)) {
    const { $ref: _ref, ...others } = isJsonObject(target) ? target : {};
    siblings = { ...others, ...siblings };
    if (pointers.includes(ref))
      return { value: undefined, pointers, fault: `The reference ${ref} leads back to itself.` };
    pointers.push(ref);
    if (ref !== '#' && !ref.startsWith('#/')) {
      const fault = `The reference ${ref} leads out of this document and was not followed.`;
      return { value: undefined, pointers, fault };
    }
    const found = findAtPointer(document, ref);
    if (!found)
      return { value: undefined, pointers, fault: `The reference ${ref} leads to nothing in this document.` };
    target = found.value;
  }
  const hasSiblings = Object.keys(siblings).length > 0;
  return { value: hasSiblings && isJsonObject(target) ? { ...target, ...siblings } : target, pointers };
}

function getReference(value: unknown): string | undefined {
  const ref = getOwnMember(value, '$ref');
  return typeof ref === 'string' ? ref : undefined;
}

/** Returns the name of the target of a pointer: its last part. */
export function getPointerName(pointer: string): string {
  return decodePart(pointer.split('/').at(-1) ?? pointer);
}
