/** Lists the places at which two JSON values differ. Pure. */

/** A place; `undefined` is the value of a side that lacks it. */
export interface Difference {
  /** Path from the root, such as `routes[2].stops[0]`; empty for the root. */
  path: string;
  before: unknown;
  after: unknown;
}

/**
 * Returns at most `max` differences in the order of the content, and whether these are all. Objects are compared by their keys
 * and arrays by position, so a list differs from the place where an element was inserted.
 */
export function listDifferences(
  before: unknown,
  after: unknown,
  max: number,
): { differences: Difference[]; isComplete: boolean } {
  const differences: Difference[] = [];
  // A stack in place of recursion: an app may nest values as deeply as it likes.
  const open: Difference[] = [{ path: '', before, after }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (Object.is(pair.before, pair.after)) continue;
    const children = listChildren(pair);
    if (children !== null) open.push(...children.reverse());
    else if (differences.length === max) return { differences, isComplete: false };
    else differences.push(pair);
  }
  return { differences, isComplete: true };
}

/** Returns the pairs below two containers of one kind; null for any other pair. */
function listChildren({ path, before, after }: Difference): Difference[] | null {
  if (Array.isArray(before) && Array.isArray(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => ({
      path: `${path}[${index}]`,
      before: before[index],
      after: after[index],
    }));
  if (!isMap(before) || !isMap(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].map((name) => ({
    path: path === '' ? name : `${path}.${name}`,
    before: Object.hasOwn(before, name) ? before[name] : undefined,
    after: Object.hasOwn(after, name) ? after[name] : undefined,
  }));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
