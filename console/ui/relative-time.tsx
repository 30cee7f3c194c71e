import { useEffect, useState } from 'react';
import { useIsLost } from '../client/connection.ts';
import { formatExact } from './format-exact.ts';

const UNITS = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const;
const REFRESH_MS = 30_000;
const words = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

/** Returns an instant in words from now, such as `3 hours ago`. Times are in milliseconds since the epoch. */
function formatRelative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return words.format(Math.round(seconds / size), unit);
  return Math.abs(seconds) < 5 ? 'just now' : words.format(seconds, 'second');
}

/** Returns the time in milliseconds since the epoch. It changes after each interval, and stands still without a connection. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  const isLost = useIsLost();
  useEffect(() => {
    if (isLost) return;
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, isLost]);
  return now;
}

/** A time relative to now, with the exact local time on hover. `at` is RFC 3339. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow(REFRESH_MS);
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={formatExact(instant)}>
      {formatRelative(instant, Math.max(now, Date.now()))}
    </time>
  );
}
