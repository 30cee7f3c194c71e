/** The search parameters of the run page, which are its state. */

const RUN_TABS = ['summary', 'log'] as const;
export type RunTab = (typeof RUN_TABS)[number];

export interface RunSearch {
  /** The selected tab; absent for the summary. */
  tab?: RunTab;
  /** The text that is searched for in the log. */
  find?: string;
}

/** Returns the known parameters; an unknown tab is the summary. */
export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = RUN_TABS.find((one) => one === search.tab);
  const { find } = search;
  return {
    ...(tab !== undefined && tab !== 'summary' && { tab }),
    ...((typeof find === 'string' || typeof find === 'number') && find !== '' && { find: String(find) }),
  };
}
