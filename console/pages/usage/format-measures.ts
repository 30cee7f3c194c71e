/** Writes measures of usage for people. */
import type { CostRate, UsageRow } from '@switchyard/contract/account/usage.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ChartMeasure } from './search.ts';

const HOUR_S = 3600;

/** Returns hours with as many digits as a small and a large amount need. */
export function formatHours(seconds: number): string {
  const hours = seconds / HOUR_S;
  return `${formatNumber(Number(hours.toFixed(hours < 10 ? 3 : 1)))} h`;
}

/** Returns an amount of money; a dash without a rate. */
export function formatCost(cost: number | null, rate: CostRate | null): string {
  if (cost === null || rate === null) return '–';
  return new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: rate.currency,
    maximumFractionDigits: cost > 0 && cost < 1 ? 4 : 2,
  }).format(cost);
}

/** Returns the value of a measure as text. */
export function formatMeasure(
  row: Pick<UsageRow, ChartMeasure>,
  measure: ChartMeasure,
  rate: CostRate | null,
): string {
  if (measure === 'cost') return formatCost(row.cost, rate);
  return measure === 'runs' ? formatNumber(row.runs) : formatHours(row.core_seconds);
}
