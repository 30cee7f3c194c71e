/** The search parameters of the page. */
import { type ContentMode, parseContentMode } from '../../ui/content/content-mode.ts';

const PARTS = ['output', 'input', 'assets'] as const;

/** The part of the run, and the way to show it. */
export interface ContentSearch {
  part?: (typeof PARTS)[number];
  mode?: ContentMode;
}

/** Returns the known parameters; others are left out. */
export function parseSearch(search: Record<string, unknown>): ContentSearch {
  const part = PARTS.find((one) => one === search.part);
  const mode = parseContentMode(search.mode);
  return { ...(part && { part }), ...(mode && { mode }) };
}
