/**
 * Groups inputs whose contents are mostly equal, such as versions of a fleet that is planned again. A time stamp in each
 * makes all of them different contents. Pure.
 *
 * Two inputs belong together when at least 70 % of their values are equal. Values of more than half of the inputs do not
 * count, such as those of a road network that all of them contain. Inputs with hardly any other values belong together when
 * 95 % of all values are equal: days of the same customers, of which each orders on most days, do not.
 */
import type { ContentSketch } from './sketch-content.ts';

/** Inputs in groups of mostly equal contents. */
export interface ContentGroups {
  /** The group of each input. */
  labels: string[];
  count: number;
  /** Inputs that share a group with another one. */
  grouped: number;
  /** A field of the input whose values form the same groups; null for none. */
  field: string | null;
}

/** Smaller inputs have too few values to compare. */
const VALUES_MIN = 16;
const RARE_VALUES_MIN = 8;
const RARE_SHARED_MIN = 0.7;
const ALL_SHARED_MIN = 0.95;
const COMMON_SHARE = 0.5;
/** The standard error of a share of 70 % is 3 points. */
const COMPARED_MAX = 256;

/** Returns the groups; null where no two inputs belong together, and where an input has too few values or no sketch. */
export function groupContents(sketches: readonly (ContentSketch | null)[]): ContentGroups | null {
  const found = sketches.filter((sketch) => sketch !== null);
  if (found.length < sketches.length || found.some(({ hashes }) => hashes.length < VALUES_MIN)) return null;
  const all = sample(
    found.map(({ hashes }) => hashes),
    found.map(({ complete_to }) => complete_to),
  );
  const rare = selectRare(all);
  const compared = limitSamples(rare);
  const comparedAll = limitSamples(all);
  const union = new Union(found.length);
  for (let first = 0; first < found.length; first += 1)
    for (let second = first + 1; second < found.length; second += 1)
      if (belongTogether(first, second, { rare, compared, comparedAll })) union.join(first, second);
  const labels = found.map((_, index) => `${union.find(index)}`);
  const sizes = new Map<string, number>();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  const grouped = labels.filter((label) => (sizes.get(label) ?? 0) > 1).length;
  if (grouped === 0) return null;
  return { labels, count: sizes.size, grouped, field: findField(found, labels) };
}

interface Samples {
  rare: readonly number[][];
  compared: readonly number[][];
  comparedAll: readonly number[][];
}

function belongTogether(first: number, second: number, { rare, compared, comparedAll }: Samples): boolean {
  const isSmall = (index: number) => (rare[index]?.length ?? 0) < RARE_VALUES_MIN;
  if (isSmall(first) !== isSmall(second)) return false;
  return isSmall(first)
    ? sharesMost(comparedAll[first] ?? [], comparedAll[second] ?? [], ALL_SHARED_MIN)
    : sharesMost(compared[first] ?? [], compared[second] ?? [], RARE_SHARED_MIN);
}

/** Returns the hashes up to the largest one to which every list is complete: the same sample of all values of each. */
function sample(lists: readonly number[][], completeTo: readonly number[]): number[][] {
  const limit = completeTo.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  return lists.map((hashes) => hashes.filter((hash) => hash <= limit));
}

function selectRare(lists: readonly number[][]): number[][] {
  const counts = new Map<number, number>();
  for (const hash of lists.flat()) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return lists.map((hashes) =>
    hashes.filter((hash) => (counts.get(hash) ?? 0) <= COMMON_SHARE * lists.length),
  );
}

/** Returns a smaller sample, so that two inputs are compared in microseconds. */
function limitSamples(lists: readonly number[][]): number[][] {
  return sample(
    lists,
    lists.map((hashes) => hashes[COMPARED_MAX - 1] ?? Number.POSITIVE_INFINITY),
  );
}

/** Returns true if at least this share of the hashes of both ascending lists are equal. Ends early where too few can be. */
function sharesMost(a: readonly number[], b: readonly number[], share: number): boolean {
  const needed = (share * (a.length + b.length)) / (1 + share);
  let shared = 0;
  for (let first = 0, second = 0; first < a.length && second < b.length; ) {
    if (shared + Math.min(a.length - first, b.length - second) < needed) return false;
    const difference = (a[first] ?? 0) - (b[second] ?? 0);
    if (difference === 0) shared += 1;
    if (difference <= 0) first += 1;
    if (difference >= 0) second += 1;
  }
  return shared > 0 && shared >= needed;
}

/** Returns the field with the shortest name whose values form the groups. */
function findField(sketches: readonly ContentSketch[], labels: readonly string[]): string | null {
  const [first] = sketches;
  const names = Object.keys(first?.fields ?? {}).sort((a, b) => a.length - b.length);
  return (
    names.find((name) => {
      const labelByValue = new Map<string, string>();
      const valueByLabel = new Map<string, string>();
      return sketches.every(({ fields }, index) => {
        const [value, label] = [fields[name], labels[index] ?? ''];
        if (value === undefined) return false;
        if (!labelByValue.has(value)) labelByValue.set(value, label);
        if (!valueByLabel.has(label)) valueByLabel.set(label, value);
        return labelByValue.get(value) === label && valueByLabel.get(label) === value;
      });
    }) ?? null
  );
}

/** Sets of connected inputs. */
class Union {
  readonly #parents: number[];

  constructor(size: number) {
    this.#parents = Array.from({ length: size }, (_, index) => index);
  }

  /** Returns the smallest input of the set. */
  find(index: number): number {
    let root = index;
    while (this.#parents[root] !== root) root = this.#parents[root] ?? root;
    this.#parents[index] = root;
    return root;
  }

  join(first: number, second: number): void {
    const [a, b] = [this.find(first), this.find(second)];
    this.#parents[Math.max(a, b)] = Math.min(a, b);
  }
}
