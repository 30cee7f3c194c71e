/** The rows of a JSON tree: only those of open branches exist, so that a large value costs what is shown of it. */

/** An array or object shows this many entries at most; the rest is in the raw text and in the download. */
const ENTRIES_MAX = 5_000;
/** Branches are open at first while fewer rows than this are shown. */
const OPEN_ROWS_MAX = 40;

/** One row of the tree. */
export interface TreeRow {
  /** Keys from the root, as JSON: unique, and safe with any key. */
  id: string;
  name: string;
  value: unknown;
  /** 1 for the root. */
  level: number;
  isOpen: boolean;
  /** Number of entries; undefined for a value without. */
  entries: number | undefined;
  /** Number of entries that are not shown; such a row has no value. */
  omitted?: number;
}

/** Returns the number of entries of an array or object, and undefined for other values. */
function countEntries(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
}

function listEntries(value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((one, index) => [String(index), one]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).slice(0, ENTRIES_MAX);
}

/** Returns the ids of the branches that are open at first: the root, and level by level what fits on a screen. */
export function listInitiallyOpen(root: unknown): Set<string> {
  const open = new Set<string>();
  let rowCount = 1;
  let level: { path: readonly string[]; value: unknown }[] = [{ path: [], value: root }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { path, value } of level) {
      const entries = countEntries(value) ?? 0;
      if (entries === 0 || (path.length > 0 && rowCount + entries > OPEN_ROWS_MAX)) continue;
      open.add(JSON.stringify(path));
      rowCount += entries;
      if (rowCount > OPEN_ROWS_MAX) return open;
      for (const [key, child] of listEntries(value)) next.push({ path: [...path, key], value: child });
    }
    level = next;
  }
  return open;
}

/** Returns the visible rows in order. It uses a stack, because values of apps nest deeper than calls may. */
export function listTreeRows(root: unknown, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const pending: { path: readonly string[]; value: unknown; omitted?: number }[] = [
    { path: [], value: root },
  ];
  for (let item = pending.pop(); item; item = pending.pop()) {
    const { path, value, omitted } = item;
    const id = JSON.stringify(path);
    const entries = countEntries(value);
    const isOpen = entries !== undefined && open.has(id);
    rows.push({
      id,
      name: path.at(-1) ?? '',
      value,
      level: path.length + 1,
      isOpen,
      entries,
      ...(omitted && { omitted }),
    });
    if (!isOpen) continue;
    if (entries > ENTRIES_MAX)
      pending.push({ path: [...path, ''], value: undefined, omitted: entries - ENTRIES_MAX });
    for (const [key, child] of listEntries(value).reverse())
      pending.push({ path: [...path, key], value: child });
  }
  return rows;
}
