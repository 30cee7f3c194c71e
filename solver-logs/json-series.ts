/** Reads `{"series": …}` lines. */

/** Names in one log, to bound the memory of charts. */
const NAME_LIMIT = 20;
const NAME_LIMIT_CHARACTERS = 64;

/** Returns true for an object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value of a JSON text; undefined for other texts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns a reader of the objects of one log. It returns the numbers below `series`, or undefined without any. It ignores
 * values that are not finite numbers, and new names after the first 20 of the log.
 */
export function createJsonSeriesReader(): (
  value: Record<string, unknown>,
) => Record<string, number> | undefined {
  const names = new Set<string>();
  const isAllowed = (name: string): boolean => {
    if (names.has(name)) return true;
    if (names.size >= NAME_LIMIT || name === '' || name.length > NAME_LIMIT_CHARACTERS) return false;
    names.add(name);
    return true;
  };
  return ({ series }) => {
    if (!isObject(series)) return undefined;
    const numbers: [string, number][] = [];
    for (const [name, number] of Object.entries(series)) {
      if (typeof number === 'number' && Number.isFinite(number) && isAllowed(name))
        numbers.push([name, number]);
    }
    return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
  };
}
