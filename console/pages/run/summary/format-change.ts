/** Writes the change of an indicator for people. */

const DIGITS_MAX = 6;
const signed = new Intl.NumberFormat('en-GB', {
  maximumSignificantDigits: DIGITS_MAX,
  signDisplay: 'exceptZero',
});
const percentages = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1, signDisplay: 'exceptZero' });

/** Returns the change from `before` to `value`, such as `+6 (+50 %)` or `=`; empty for what is no number in both. */
export function formatChange(before: unknown, value: unknown): string {
  if (before === undefined) return '';
  if (before === value) return '=';
  if (typeof before !== 'number' || typeof value !== 'number') return `was ${String(before).slice(0, 80)}`;
  const difference = signed.format(value - before);
  if (before === 0) return difference;
  return `${difference} (${percentages.format((100 * (value - before)) / Math.abs(before))} %)`;
}
