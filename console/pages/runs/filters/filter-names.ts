/** The filters of the runs table, and what their chips say. */
import type { RunWindow } from '@switchyard/contract/runs/views/run-windows.ts';
import { parseCondition, type RunFilters, splitConditions, splitValues } from './runs-search.ts';

export const FILTERS = [
  { name: 'created', label: 'Created' },
  { name: 'status', label: 'Status' },
  { name: 'instance', label: 'Instance' },
  { name: 'version', label: 'Version' },
  { name: 'user', label: 'User' },
  { name: 'indicator', label: 'Indicator' },
  { name: 'option', label: 'Option' },
  { name: 'tag', label: 'Tag' },
  { name: 'type', label: 'Type' },
  { name: 'name', label: 'Name' },
] as const;
export type FilterName = (typeof FILTERS)[number]['name'];

/** The windows in the order of their buttons: days, then times before now. */
export const WINDOWS: readonly RunWindow[] = ['today', 'yesterday', '1h', '24h', '7d', '30d'];

export const WINDOW_LABELS: Record<RunWindow, string> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** Returns the words of a filter's chip; empty for one that is not set. */
export function formatFilter(name: FilterName, filters: RunFilters): string {
  if (name === 'created') return formatWindow(filters);
  const text = filters[name] ?? '';
  if (name === 'name') return text;
  if (name !== 'indicator' && name !== 'option') return splitValues(text).join(' or ');
  return splitConditions(text)
    .map(parseCondition)
    .map((condition) => `${condition.name} ${formatRange(condition.value)}`)
    .join(' and ');
}

function formatWindow({ within, from, to }: RunFilters): string {
  if (within === 'today') return `${WINDOW_LABELS.today}, ${formatDay(Date.now())}`;
  if (within !== undefined) return WINDOW_LABELS[within];
  if (from === undefined) return to === undefined ? '' : `until ${formatInstant(to)}`;
  return to === undefined ? `from ${formatInstant(from)}` : `${formatInstant(from)} to ${formatInstant(to)}`;
}

function formatRange(value: string): string {
  const [from, to] = value.split('..');
  if (to === undefined) return value;
  if (from === '') return `≤ ${to}`;
  return to === '' ? `≥ ${from}` : `${from} to ${to}`;
}

const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const instant = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** Returns a day, such as `Sat 28 Nov`. The time is in milliseconds. */
function formatDay(at: number): string {
  return day.format(at).replace(',', '');
}

/** Returns an RFC 3339 instant with day and minute, such as `28 Nov, 08:00`. */
function formatInstant(at: string): string {
  return instant.format(Date.parse(at));
}
