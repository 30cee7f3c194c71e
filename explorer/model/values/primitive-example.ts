import { sample } from 'openapi-sampler';
import type { JsonObject } from '../document/json.ts';

/** The longest text that is written out to satisfy a `minLength`. */
const MAX_TEXT_CHARACTERS = 64;

/** Builds a value of a type that holds no others, within the limits of all schemas that hold for it. */
export function buildPrimitiveExample(type: unknown, parts: readonly JsonObject[]): unknown {
  if (type === 'integer' || type === 'number') return chooseNumber(parts, type === 'integer');
  if (type === 'boolean') return sample({ type });
  if (type === 'string') return buildText(parts);
  if (type === 'object') return {};
  return parts.some((part) => part.nullable === true) ? null : {};
}

function listNumbers(parts: readonly JsonObject[], key: string): number[] {
  return parts.map((part) => part[key]).filter((value) => typeof value === 'number');
}

/**
 * Returns a number within all limits, near to 1 if they allow it. This is own code, because openapi-sampler ignores
 * `multipleOf`, the limits of other parts, and fractional limits of an integer. In OpenAPI 3.0 a flag excludes the limit
 * itself; later versions have a limit of its own for that.
 */
function chooseNumber(parts: readonly JsonObject[], isWhole: boolean): number {
  const hasFlag = (key: string) => parts.some((part) => part[key] === true);
  const above = listNumbers(parts, 'exclusiveMinimum');
  const below = listNumbers(parts, 'exclusiveMaximum');
  const least = Math.max(...listNumbers(parts, 'minimum'), ...above);
  const most = Math.min(...listNumbers(parts, 'maximum'), ...below);
  const isLeastExcluded = hasFlag('exclusiveMinimum') || above.includes(least);
  const isMostExcluded = hasFlag('exclusiveMaximum') || below.includes(most);
  const step = listNumbers(parts, 'multipleOf').find((factor) => factor > 0) ?? (isWhole ? 1 : undefined);
  const isWithin = (value: number) =>
    (isLeastExcluded ? value > least : value >= least) && (isMostExcluded ? value < most : value <= most);
  const candidates =
    step === undefined
      ? [1, least, least + 1, most, most - 1, (least + most) / 2]
      : [
          Math.max(step, 1),
          Math.ceil(least / step) * step,
          (Math.floor(least / step) + 1) * step,
          Math.floor(most / step) * step,
          (Math.ceil(most / step) - 1) * step,
        ];
  const isMultiple = (value: number) => step === undefined || Number.isInteger(value / step);
  return candidates.find((value) => Number.isFinite(value) && isWithin(value) && isMultiple(value)) ?? 1;
}

/** Returns a text of the format, else `string` in the least length. */
function buildText(parts: readonly JsonObject[]): unknown {
  const format = parts.map((part) => part.format).find((value) => typeof value === 'string') ?? '';
  const minLength = Math.min(Math.max(0, ...listNumbers(parts, 'minLength')), MAX_TEXT_CHARACTERS);
  const maxLength = Math.max(0, Math.min(...listNumbers(parts, 'maxLength')));
  // The sampler looks a format up in an object, where `constructor` is a function too, and warns of limits that a date
  // does not meet.
  if (format !== '' && !(format in {})) return sample({ type: 'string', format });
  if (maxLength === 0) return '';
  return sample({ type: 'string', minLength, ...(Number.isFinite(maxLength) && { maxLength }) });
}

/** Returns whether a value is the text that stands for a string about which nothing is known. */
export function isPlaceholderText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && 'string'.repeat(MAX_TEXT_CHARACTERS).startsWith(value);
}
