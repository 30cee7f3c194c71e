/** The search parameters of the page. */
const PARTS = ['output', 'input', 'assets'] as const;
const MODES = ['view', 'tree', 'table', 'raw'] as const;

/** The part of the run, and the way to show it. */
export interface ContentSearch {
  part?: (typeof PARTS)[number];
  mode?: (typeof MODES)[number];
}

/** Returns the known parameters; others are left out. */
export function parseSearch(search: Record<string, unknown>): ContentSearch {
  const part = PARTS.find((one) => one === search.part);
  const mode = MODES.find((one) => one === search.mode);
  return { ...(part && { part }), ...(mode && { mode }) };
}
