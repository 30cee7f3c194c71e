import { formatExactPercent, formatNumber } from '../../presentation/format-quantity.ts';
import type { EnsembleRule } from '../ensemble-schemas.ts';

/** Returns the tolerance of a rule, such as `within 1 % of the best`; empty if only equal values tie. */
export function formatTolerance({ type, value }: EnsembleRule['tolerance']): string {
  if (value === 0) return '';
  const size = type === 'relative' ? formatExactPercent(value) : formatNumber(value);
  return `within ${size} of the best`;
}
