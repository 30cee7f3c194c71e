/** The ways to show a content; `view` is what its data allow: a map, a schedule or a table. */
const CONTENT_MODES = ['view', 'tree', 'table', 'raw'] as const;
export type ContentMode = (typeof CONTENT_MODES)[number];

/** Returns the way that a search parameter names; undefined for anything else. */
export function parseContentMode(value: unknown): ContentMode | undefined {
  return CONTENT_MODES.find((one) => one === value);
}
