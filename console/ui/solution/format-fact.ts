/** Facts of the objects of the data, as text. */
import { formatObjective } from '@switchyard/contract/presentation/format-quantity.ts';
import { formatCell } from '../content/json-text.ts';
import type { Fact } from './data-items.ts';

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** Returns date and clock of an ISO 8601 time, as its zone has them; undefined for anything else. */
export function parseClock(value: unknown): { date: string; clock: string } | undefined {
  const [, date, clock] = (typeof value === 'string' && TIME.exec(value)) || [];
  return date !== undefined && clock !== undefined ? { date, clock } : undefined;
}

/** Returns a value for a table: numbers with four digits, times without their zone. */
export function formatFact(value: Fact[1] | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return formatObjective(value);
  const time = parseClock(value);
  return time ? `${time.date} ${time.clock}` : formatCell(value);
}
