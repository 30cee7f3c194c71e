/** The time windows of views, and their instants. */
export const RUN_VIEW_WINDOWS = ['1h', '24h', '7d', '30d', 'today', 'yesterday'] as const;

export type RunWindow = (typeof RUN_VIEW_WINDOWS)[number];

const HOUR_MS = 3_600_000;
const LENGTHS_MS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS, '30d': 30 * 24 * HOUR_MS };

/** Returns the window as query parameters. Days begin and end at midnight in the time zone of this process or browser. */
export function computeRunWindow(
  window: RunWindow,
  now: number,
): { created_after: string; created_before?: string } {
  if (window !== 'today' && window !== 'yesterday')
    return { created_after: new Date(now - LENGTHS_MS[window]).toISOString() };
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (window === 'today') return { created_after: new Date(midnight).toISOString() };
  const before = new Date(midnight);
  before.setDate(before.getDate() - 1);
  return { created_after: before.toISOString(), created_before: new Date(midnight).toISOString() };
}
