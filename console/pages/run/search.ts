/** The search parameters of the run page, which are its state. */
import { type ContentMode, parseContentMode } from '../../ui/content/content-mode.ts';
import { type LogSearch, parseLogSearch } from './log/log-search.ts';

const RUN_TABS = ['summary', 'workflow', 'output', 'input', 'log', 'resources'] as const;
const ASSET_TAB = 'asset:';
/** A part of the run, or the assets with a label. */
export type RunTab = (typeof RUN_TABS)[number] | `${typeof ASSET_TAB}${string}`;

export interface RunSearch extends LogSearch {
  /** The selected tab; absent for the summary. */
  tab?: RunTab;
  /** The view of the input or output. */
  mode?: ContentMode;
  /** The run whose indicators those of this run are compared with; absent for the default. */
  baseline?: string;
}

/** Returns the tab of the assets with this label. */
export function getAssetTab(label: string): RunTab {
  return `${ASSET_TAB}${label}`;
}

/** Returns the known parameters; an unknown tab is the summary. */
export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = RUN_TABS.find((one) => one === search.tab) ?? parseAssetTab(search.tab);
  const mode = parseContentMode(search.mode);
  const { baseline } = search;
  return {
    ...(tab !== undefined && tab !== 'summary' && { tab }),
    ...(mode !== undefined && { mode }),
    ...parseLogSearch(search),
    ...(typeof baseline === 'string' && baseline !== '' && { baseline }),
  };
}

function parseAssetTab(tab: unknown): RunTab | undefined {
  return typeof tab === 'string' && tab.startsWith(ASSET_TAB)
    ? getAssetTab(tab.slice(ASSET_TAB.length))
    : undefined;
}
