/** The change of a value to its baseline: one rule for the run page, Compare and the command line. */
import { distinguish, type Format, formatObjective, formatPercent } from './format-quantity.ts';

/** From three digits on, one step of a count is 1 % or less. */
const COUNT_END = 100;
const MINUS = '\u2212';

/** The change of a value to that of the baseline. */
export interface Change {
  /** The amount without a sign: `2.9 %`, a count such as `3`, or `1.2 pp` of a percentage. */
  amount: string;
  /** The amount with its sign: `−2.9 %`. */
  signed: string;
  /** The sign, and a mark of its direction: `▼ −2.9 %`. */
  text: string;
  isLess: boolean;
  /** Absent where nobody said if less is better. */
  outcome?: 'better' | 'worse';
}

/** The meaning of a value. `format` writes a duration or a size, with a unit of its own. */
export interface Measure {
  unit?: string | undefined;
  direction?: 'minimize' | 'maximize' | null | undefined;
  format?: Format | undefined;
}

/**
 * Returns how `after` differs from `before`, another number.
 *
 * A reader wants to know if the change matters. A share says it for a cost of 86,730, and misleads for a few: one more late
 * stop of two is "+50 %". Of two whole numbers below 100 the reader sees the share at once, so they change by a count. From
 * 100 on one step is at most 1 %, and the share says more. A duration or a size is no count, even where it is whole. A
 * baseline of 0 has no share. A percentage changes by points, because "+5 %" of 20 % could be 21 % or 25 %.
 */
export function describeChange(before: number, after: number, measure: Measure = {}): Change {
  const { unit, direction, format } = measure;
  const isLess = after < before;
  const difference = Math.abs(after - before);
  const share = difference / Math.abs(before);
  const isCount =
    !format && [before, after].every((one) => Number.isInteger(one) && Math.abs(one) < COUNT_END);
  const write = format ?? formatObjective;
  const amount =
    unit === '%'
      ? `${write(difference)}\u00a0pp`
      : isCount || !Number.isFinite(share)
        ? write(difference)
        : // 6,144 to 1 is not −100 %.
          distinguish(isLess ? [share, 1] : [share], formatPercent)(share);
  const signed = `${isLess ? MINUS : '+'}${amount}`;
  const text = `${isLess ? '▼' : '▲'} ${signed}`;
  const outcome = isLess === (direction === 'minimize') ? 'better' : 'worse';
  return { amount, signed, text, isLess, ...(direction && { outcome }) };
}
