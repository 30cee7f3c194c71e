/** Values of the indicator by which people judge runs, and how they change. */
import {
  formatObjective,
  formatPercent,
  formatSigned,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import type { JudgedIndicator } from './indicator-meaning.ts';

/** Returns the number that a run reports for an indicator; undefined for none. */
export function readIndicator(
  { statistics }: Pick<Run, 'statistics'>,
  indicator: string,
): number | undefined {
  const value = statistics.indicators.find(({ name }) => name === indicator)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** Returns a value with its unit. Its title should have all digits. */
export function formatJudged(value: number, unit = ''): string {
  return [formatObjective(value), unit].filter(Boolean).join('\u00a0');
}

/** Returns a relative change with its direction, such as `▼ −2.9 %`. */
export function formatChange(share: number): string {
  if (share === 0) return 'equal';
  return `${share > 0 ? '▲' : '▼'} ${formatSigned(share, formatPercent)}`;
}

/** Returns the class of a change: good or bad by the direction, and neither without one. */
export function rateChange(
  { direction }: Pick<JudgedIndicator, 'direction'>,
  change: number,
): 'good' | 'bad' | undefined {
  if (direction === null || change === 0) return undefined;
  return change < 0 === (direction === 'minimize') ? 'good' : 'bad';
}
