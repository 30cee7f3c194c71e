/** Times and durations for people. */

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** Formats how long ago a time was, such as `5 min ago`. */
export function formatAge(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  const [name, size] = UNITS.find(([, one]) => ms >= one) ?? ['s', 1000];
  return ms < 1000 ? 'now' : `${Math.floor(ms / size)} ${name} ago`;
}
