/** The search parameters of the run page, which are its state. */

const RUN_TABS = ['summary', 'output', 'input', 'log'] as const;
const CONTENT_MODES = ['tree', 'table', 'raw'] as const;
export type RunTab = (typeof RUN_TABS)[number];

export interface RunSearch {
  /** The selected tab; absent for the summary. */
  tab?: RunTab;
  /** The text that is searched for in the log. */
  find?: string;
  /** The view of the input or output. */
  mode?: (typeof CONTENT_MODES)[number];
}

/** Returns the known parameters; an unknown tab is the summary. */
export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = RUN_TABS.find((one) => one === search.tab);
  const mode = CONTENT_MODES.find((one) => one === search.mode);
  const { find } = search;
  return {
    ...(tab !== undefined && tab !== 'summary' && { tab }),
    ...(mode !== undefined && { mode }),
    ...((typeof find === 'string' || typeof find === 'number') && find !== '' && { find: String(find) }),
  };
}
