/** An object of a document that nobody has checked. */
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object by its own name only, so that `constructor` is what the document says or nothing. */
export function getOwnMember(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** JSON as people read it. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined';
}

/** JSON on one line. */
export function formatCompactJson(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

/** Reads an object member by member; what nobody took, or what was not of the type asked for, is left in `rest`. */
export type MemberReader = {
  has(key: string): boolean;
  text(key: string): string | undefined;
  number(key: string): number | undefined;
  /** True only when the member is; false and absent are the same. */
  flag(key: string): boolean;
  list(key: string): readonly unknown[] | undefined;
  object(key: string): JsonObject | undefined;
  any(key: string): unknown;
  /** The members that were not understood, or undefined when all were. */
  unread(): JsonObject | undefined;
};

export function createMemberReader(value: JsonObject): MemberReader {
  const taken = new Set<string>();
  const take = <T>(key: string, fits: (member: unknown) => member is T): T | undefined => {
    const member = getOwnMember(value, key);
    if (!fits(member)) return undefined;
    taken.add(key);
    return member;
  };
  return {
    has: (key) => Object.hasOwn(value, key),
    text: (key) => take(key, (member) => typeof member === 'string'),
    number: (key) => take(key, (member) => typeof member === 'number'),
    flag: (key) => take(key, (member) => typeof member === 'boolean') ?? false,
    list: (key) => take(key, (member): member is readonly unknown[] => Array.isArray(member)),
    object: (key) => take(key, isJsonObject),
    any: (key) => take(key, (_): _ is unknown => true),
    unread: () => {
      const left = Object.entries(value).filter(([key]) => !taken.has(key));
      return left.length === 0 ? undefined : Object.fromEntries(left);
    },
  };
}
