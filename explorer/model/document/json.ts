/** An object of a document, whose members are unchecked. */
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own member of an object, so that `constructor` is the member of the document or undefined. */
export function getOwnMember(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Formats JSON with indentation. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined';
}

/** Formats JSON on one line. */
export function formatCompactJson(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

/**
 * Reads an object member by member and remembers which were read. A member of another type than the caller asks for
 * stays unread, so that the page can show it as JSON.
 */
export type MemberReader = {
  has(key: string): boolean;
  text(key: string): string | undefined;
  number(key: string): number | undefined;
  /** Returns true only when the member is true; false and absent are the same. */
  flag(key: string): boolean;
  list(key: string): readonly unknown[] | undefined;
  object(key: string): JsonObject | undefined;
  any(key: string): unknown;
  /** Returns the members that no call has read, or undefined when all were read. */
  unread(): JsonObject | undefined;
};

/** Creates a reader of the own members of an object. */
export function createMemberReader(value: JsonObject): MemberReader {
  const read = new Set<string>();
  const readAs = <T>(key: string, isOfType: (member: unknown) => member is T): T | undefined => {
    const member = getOwnMember(value, key);
    if (!isOfType(member)) return undefined;
    read.add(key);
    return member;
  };
  return {
    has: (key) => Object.hasOwn(value, key),
    text: (key) => readAs(key, (member) => typeof member === 'string'),
    number: (key) => readAs(key, (member) => typeof member === 'number'),
    flag: (key) => readAs(key, (member) => typeof member === 'boolean') ?? false,
    list: (key) => readAs(key, (member): member is readonly unknown[] => Array.isArray(member)),
    object: (key) => readAs(key, isJsonObject),
    any: (key) => readAs(key, (_): _ is unknown => true),
    unread: () => {
      const unread = Object.entries(value).filter(([key]) => !read.has(key));
      return unread.length === 0 ? undefined : Object.fromEntries(unread);
    },
  };
}
