/**
 * The primal integral (Berthold, Operations Research Letters 2013): the area under the gap of the incumbent to the best known
 * value over the time of a run. It rewards good solutions early; an average gap of 0.1 over 60 s is 6 s.
 */
import type { Incumbent } from '../observations.ts';

/** Returns the gap of a value to a reference: 0 for equal, 1 for no value or opposite signs, else the share of the larger one. */
export function computePrimalGap(value: number | null, reference: number): number {
  if (value === null || value * reference < 0) return 1;
  if (value === reference) return 0;
  return Math.abs(value - reference) / Math.max(Math.abs(value), Math.abs(reference));
}

/**
 * Returns the primal integral in seconds, from 0 to `until`. The incumbents are in any order. Only improvements count, so a
 * worse value later changes nothing.
 */
export function computePrimalIntegral(
  incumbents: readonly Incumbent[],
  reference: number,
  { until, maximize = false }: { until: number; maximize?: boolean },
): number {
  const ordered = [...incumbents].sort((a, b) => a.seconds - b.seconds);
  let best: number | null = null;
  let [area, at] = [0, 0];
  for (const { seconds, value } of ordered) {
    const time = Math.max(0, Math.min(until, seconds));
    area += computePrimalGap(best, reference) * (time - at);
    at = time;
    if (best === null || (maximize ? value > best : value < best)) best = value;
  }
  return area + computePrimalGap(best, reference) * (until - at);
}
