/** Lists the places at which two JSON values differ, as far as a page can show them. Pure. */

/** A place with different values; `undefined` is a place that one side lacks. */
interface ContentChange {
  /** Path from the root, such as `routes[2].stops[0]`; empty for the root. */
  path: string;
  before: unknown;
  after: unknown;
}

export interface ContentChanges {
  changes: ContentChange[];
  /** false: there are more changes than are listed, or the values are too large to compare them all. */
  isComplete: boolean;
}

const CHANGES_MAX = 200;
/** A comparison of this many pairs takes a browser about a tenth of a second. */
const PAIRS_MAX = 500_000;

/**
 * Compares objects by their keys and arrays by position. A list in which one element was inserted therefore differs from
 * there on. A search for the shortest list of changes takes quadratic memory: two arrays of 50,000 items needed over 4 GB.
 */
export function listChanges(before: unknown, after: unknown): ContentChanges {
  const changes: ContentChange[] = [];
  const open: ContentChange[] = [{ path: '', before, after }];
  for (let pairs = 0; open.length > 0; pairs += 1) {
    const pair = open.pop();
    if (!pair || pairs === PAIRS_MAX || changes.length === CHANGES_MAX) return { changes, isComplete: false };
    if (Object.is(pair.before, pair.after)) continue;
    const children = listChildren(pair);
    if (children === null) changes.push(pair);
    // The stack returns the last one first.
    else open.push(...children.reverse());
  }
  return { changes, isComplete: true };
}

/** Returns the pairs below two containers of one kind; null for any other pair. */
function listChildren({ path, before, after }: ContentChange): ContentChange[] | null {
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => ({
      path: `${path}[${index}]`,
      before: before[index],
      after: after[index],
    }));
  }
  if (!isObject(before) || !isObject(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].map((name) => ({
    path: path === '' ? name : `${path}.${name}`,
    before: Object.hasOwn(before, name) ? before[name] : undefined,
    after: Object.hasOwn(after, name) ? after[name] : undefined,
  }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
