/** Writes measures of usage for people. */
import type { CostRate, UsageRow } from '@switchyard/contract/account/usage.ts';
import { formatHours, formatMoney, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ChartMeasure } from './search.ts';

const HOUR_S = 3600;

/** Returns the reserved core time in hours. */
export const formatCoreTime = (seconds: number): string => formatHours(seconds / HOUR_S);

/** Returns an amount of money; a dash without a rate. */
export function formatCost(cost: number | null, rate: CostRate | null): string {
  return cost === null || rate === null ? '–' : formatMoney(cost, rate.currency);
}

/** Returns the value of a measure as text. */
export function formatMeasure(
  row: Pick<UsageRow, ChartMeasure>,
  measure: ChartMeasure,
  rate: CostRate | null,
): string {
  if (measure === 'cost') return formatCost(row.cost, rate);
  return measure === 'runs' ? formatNumber(row.runs) : formatCoreTime(row.core_seconds);
}
