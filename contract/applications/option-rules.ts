/**
 * The rules that a manifest gives for the value of an option. Server and console share them, so that a form reports what
 * the server would refuse. This file imports only types and texts, because browsers load it.
 */
import { formatNameList } from '../name-list.ts';
import type { OptionItem } from './executables.ts';

const QUOTED_CHARS_MAX = 80;

/** Returns the value of a manifest as text; an object as JSON text. */
export function formatOptionValue(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns the error message for a required option without a value. */
export function formatMissingOption(item: Pick<OptionItem, 'name'>): string {
  return `options.${item.name} is missing; the app requires it.`;
}

/** Returns the error message for a value that breaks a rule of the option, or null. */
export function findOptionValueError(item: OptionItem, value: string): string | null {
  const field = `options.${item.name} is ${JSON.stringify(value.slice(0, QUOTED_CHARS_MAX))}`;
  const attributes = item.additional_attributes ?? {};
  const values = attributes.values;
  if (Array.isArray(values)) {
    const allowed = values.map(formatOptionValue);
    if (!allowed.includes(value)) return `${field}; it must be one of ${formatNameList(allowed)}.`;
  }
  switch (item.option_type) {
    case 'bool':
      return /^(?:true|false)$/i.test(value) ? null : `${field}; it must be true or false.`;
    case 'int':
      return /^[+-]?\d+$/.test(value)
        ? findBoundsError(field, Number(value), attributes)
        : `${field}; it must be a whole number.`;
    case 'float':
      return value.trim() !== '' && Number.isFinite(Number(value))
        ? findBoundsError(field, Number(value), attributes)
        : `${field}; it must be a number.`;
    default:
      return null;
  }
}

function findBoundsError(field: string, value: number, attributes: Record<string, unknown>): string | null {
  const { min, max } = attributes;
  if (typeof min === 'number' && value < min) return `${field}; it must be at least ${min}.`;
  if (typeof max === 'number' && value > max) return `${field}; it must be at most ${max}.`;
  return null;
}
