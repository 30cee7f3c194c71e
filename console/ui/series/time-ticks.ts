/** Round times for an axis. Pure. */
import { listTicks } from '@switchyard/contract/presentation/scales.ts';

const UNITS = [
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
  { unit: 's', seconds: 1 },
] as const;
const MOST_TICKS = 6;

/** Times with the unit in which they are written. */
export interface TimeTicks {
  unit: string;
  /** Seconds in the unit. */
  factor: number;
  /** In seconds. */
  ticks: number[];
}

/** Returns three to six round times from 0 to the end, in the largest unit that has at least two of them. */
export function listTimeTicks(end: number, count: number): TimeTicks {
  const { unit, seconds } = UNITS.find((one) => end >= 2 * one.seconds) ?? UNITS[2];
  const span = end / seconds;
  // Minutes and hours are halved and quartered, not divided by ten.
  const halves = [0.25, 0.5].find((step) => unit !== 's' && span / step <= Math.min(count, MOST_TICKS));
  const ticks = halves
    ? Array.from({ length: Math.floor(span / halves) + 1 }, (_, index) => index * halves)
    : listTicks(0, span, Math.min(count, MOST_TICKS) - 1);
  return { unit, factor: seconds, ticks: ticks.map((tick) => tick * seconds) };
}
