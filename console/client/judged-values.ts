/** Values of the indicator by which people judge runs. */
import { formatObjective } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';

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
