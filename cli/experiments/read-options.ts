/** Parses the values of options of experiments. The errors name the allowed values. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
  parseExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { AcceptanceMetric } from '@switchyard/contract/experiments/acceptance-results.ts';
import { DIRECTIONS } from '@switchyard/contract/experiments/experiment-settings.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

/** Parses a number. */
export function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number.');
}

/** Parses a whole number of at least 1. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** Parses a list with commas between its entries. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Parses the type of an experiment. */
export function parseType(text: string): ExperimentType {
  const type = parseExperimentType(text);
  if (type) return type;
  throw new InvalidArgumentError(`It must be one of ${EXPERIMENT_TYPES.join(', ')}.`);
}

/** An amount as the API has it: `2%` is relative, `2` is absolute. */
export interface Amount {
  type: 'relative' | 'absolute';
  value: number;
}

/** Parses an amount, such as `2%` or `12.5`. */
export function parseAmount(text: string): Amount {
  const [, digits = '', percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  if (digits === '')
    throw new InvalidArgumentError('It must be a share such as 2%, or a number such as 12.5.');
  // Without the rounding error of a division.
  return percent
    ? { type: 'relative', value: Number((Number(digits) / 100).toPrecision(12)) }
    : { type: 'absolute', value: Number(digits) };
}

/** Parses directions by indicator, such as `result.value=minimize,result.custom.late=minimize`. */
export function parseObjectives(text: string): Record<string, string> {
  return Object.fromEntries(
    parseList(text).map((entry) => {
      const end = entry.lastIndexOf('=');
      const direction = entry.slice(end + 1);
      if (end < 1 || !DIRECTIONS.some((known) => known === direction))
        throw new InvalidArgumentError(
          `Each entry must be INDICATOR=DIRECTION with one of ${DIRECTIONS.join(', ')}, such as result.value=minimize.`,
        );
      return [entry.slice(0, end), direction];
    }),
  );
}

const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;

/** Parses a rule of an acceptance test, such as `result.value mean le 1%`. */
export function parseMetric(text: string): AcceptanceMetric {
  const [field = '', statistic = '', sign, tolerance, ...words] = text.trim().split(/\s+/);
  const operator = OPERATORS.find((known) => known === sign);
  const unknown = words.filter((word) => word !== 'non-inferiority' && word !== 'accept-same');
  if (!operator || unknown.length > 0 || new Set(words).size < words.length)
    throw new InvalidArgumentError(
      `It must be "INDICATOR STATISTIC OPERATOR [TOLERANCE [non-inferiority] [accept-same]]" with one of the operators ${OPERATORS.join(', ')}, such as "result.value mean le 1%".`,
    );
  const params = tolerance === undefined ? { operator } : { operator, tolerance: parseAmount(tolerance) };
  return {
    field,
    statistic,
    metric_type: 'direct-comparison',
    params,
    ...(words.includes('non-inferiority') && { hypothesis: 'non-inferiority' }),
    ...(words.includes('accept-same') && { accept_same: true }),
  };
}

/** Parses a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {}
  throw new InvalidArgumentError('It must be a JSON object, such as {"fast": {"duration": "1"}}.');
}
