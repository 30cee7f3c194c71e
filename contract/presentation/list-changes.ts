/** Lists the places at which two JSON values differ, as far as a page or a terminal can show them. Pure. */
import { isRecord } from '../schemas/is-record.ts';

/** A place with different values; `undefined` is a place that one side lacks. */
export interface ContentChange {
  /** Path from the root, such as `routes[2].stops[0]`; empty for the root. */
  path: string;
  before: unknown;
  after: unknown;
}

interface ContentChanges {
  changes: ContentChange[];
  /** false: there are more changes than are listed, or the values are too large to compare them all. */
  isComplete: boolean;
}

interface Limits {
  changesMax: number;
  /** The number of pairs of values that are compared; all without a number. */
  pairsMax?: number;
}

/**
 * Compares objects by their keys and arrays by position. A list in which one element was inserted therefore differs from
 * there on. A search for the shortest list of changes takes quadratic memory: two arrays of 50,000 items needed over 4 GB.
 */
export function listChanges(
  before: unknown,
  after: unknown,
  { changesMax, pairsMax = Number.POSITIVE_INFINITY }: Limits,
): ContentChanges {
  const changes: ContentChange[] = [];
  // A stack in place of recursion: an app may nest values as deeply as it likes.
  const open: ContentChange[] = [{ path: '', before, after }];
  for (let pairs = 0; open.length > 0; pairs += 1) {
    const pair = open.pop();
    if (!pair || pairs === pairsMax) return { changes, isComplete: false };
    if (Object.is(pair.before, pair.after)) continue;
    const children = listChildren(pair);
    // The stack returns the last one first. More arguments than a call may have would be an error.
    if (children !== null) for (const child of children.reverse()) open.push(child);
    else if (changes.length === changesMax) return { changes, isComplete: false };
    else changes.push(pair);
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
  if (!isRecord(before) || !isRecord(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].map((name) => ({
    path: path === '' ? name : `${path}.${name}`,
    before: Object.hasOwn(before, name) ? before[name] : undefined,
    after: Object.hasOwn(after, name) ? after[name] : undefined,
  }));
}
