/** Lines of the form `{"series": {"objective": 12.3, "temperature": 0.9}}`, which any app can print. */

/** Names in one log, to bound the memory of charts. */
const NAME_LIMIT = 20;
const NAME_LIMIT_CHARACTERS = 64;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns a parser of the lines of one log. The parser returns the numbers of a line, or undefined without any. It
 * ignores values that are not finite numbers, and new names after the first 20 of the log.
 */
export function createJsonSeriesParser(): (line: string) => Record<string, number> | undefined {
  const names = new Set<string>();
  const isAllowed = (name: string): boolean => {
    if (names.has(name)) return true;
    if (names.size >= NAME_LIMIT || name === '' || name.length > NAME_LIMIT_CHARACTERS) return false;
    names.add(name);
    return true;
  };
  return (line) => {
    if (!line.includes('"series"')) return undefined;
    const value = parseJson(line);
    if (!isObject(value) || !isObject(value.series)) return undefined;
    const numbers: [string, number][] = [];
    for (const [name, number] of Object.entries(value.series)) {
      if (typeof number === 'number' && Number.isFinite(number) && isAllowed(name))
        numbers.push([name, number]);
    }
    return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
  };
}
