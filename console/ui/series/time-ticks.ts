/** Round times for an axis. Pure. */
import { listTicks } from '@switchyard/contract/presentation/scales.ts';

/** Units with the round numbers of them. */
const UNITS = [
  { unit: 'h', seconds: 3_600, steps: [0.5, 1, 2, 3, 4, 6, 12, 24] },
  { unit: 'min', seconds: 60, steps: [0.5, 1, 2, 5, 10, 15, 20, 30] },
  { unit: 's', seconds: 1, steps: [2, 5, 10, 15, 20, 30] },
] as const;
/** Below it, decimal steps are round. */
const DECIMAL_BELOW_S = 8;

/** Times with the unit in which they are written. */
export interface TimeTicks {
  unit: string;
  /** Seconds in the unit. */
  factor: number;
  /** In seconds. */
  ticks: number[];
}

/** Returns round times from 0 to the end, at most `count` where there is such a step, in a unit that has at least two of them. */
export function listTimeTicks(end: number, count: number): TimeTicks {
  const { unit, seconds, steps } = UNITS.find((one) => end >= 2 * one.seconds) ?? UNITS[2];
  const span = end / seconds;
  const step = steps.find((one) => span / one < count);
  const isDecimal = step === undefined || end < DECIMAL_BELOW_S;
  const ticks = isDecimal
    ? listTicks(0, span, count - 1)
    : Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
  return { unit, factor: seconds, ticks: ticks.map((tick) => tick * seconds) };
}
