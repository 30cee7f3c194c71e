import { USAGE_DAYS_DEFAULT } from '@switchyard/contract/limits.ts';

/** The ranges that the page offers beside this month, in days. */
export const RANGES = [7, USAGE_DAYS_DEFAULT, 90, 365] as const;
/** The groups that the table offers, each as the API names it. */
export const TABLE_GROUPS = {
  application: 'Application',
  user: 'User',
  'application,user': 'Application and user',
};
type TableGroup = keyof typeof TABLE_GROUPS;
/** The measures that the chart offers. */
export const CHART_MEASURES = { core_seconds: 'Core hours', runs: 'Runs', cost: 'Cost' };
export type ChartMeasure = keyof typeof CHART_MEASURES;

/** Range, group and measure of the page, as in the address; a default is absent. */
export interface UsageSearch {
  days?: number;
  by?: TableGroup;
  show?: ChartMeasure;
}

const isKey = <T extends object>(choices: T, key: unknown): key is keyof T =>
  typeof key === 'string' && Object.hasOwn(choices, key);

/** Returns the state in an address; other values are dropped. */
export function parseUsageSearch(search: Record<string, unknown>): UsageSearch {
  const days = RANGES.find((range) => range === search.days);
  return {
    ...(days !== undefined && { days }),
    ...(isKey(TABLE_GROUPS, search.by) && { by: search.by }),
    ...(isKey(CHART_MEASURES, search.show) && { show: search.show }),
  };
}

/** The state of the page with its defaults. */
export const completeSearch = ({ days, by = 'application', show = 'core_seconds' }: UsageSearch) => ({
  days,
  by,
  show,
});
