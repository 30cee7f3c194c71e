import type { JsonObject } from '../document/json.ts';

/** Values of the formats that authors name. */
const texts: Record<string, string> = {
  byte: 'Z2F1Z2U=',
  date: '2026-01-31',
  'date-time': '2026-01-31T09:00:00Z',
  email: 'ada@example.org',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  time: '09:00:00Z',
  uri: 'https://example.org/',
  url: 'https://example.org/',
  uuid: '3b7f1f0e-5c1d-4a57-9d0e-2f6f6f0c8a11',
};

/** A text is not made longer than this. */
const longest = 64;

/** A value of a type that holds no others, within the limits of all schemas that hold for it. */
export function buildPrimitiveExample(type: unknown, parts: readonly JsonObject[]): unknown {
  if (type === 'integer' || type === 'number') return numberWithin(parts, type === 'integer');
  if (type === 'boolean') return true;
  if (type === 'string') return textWithin(parts);
  if (type === 'object') return {};
  return parts.some((part) => part.nullable === true) ? null : {};
}

function numbers(parts: readonly JsonObject[], key: string): number[] {
  return parts.map((part) => part[key]).filter((value) => typeof value === 'number');
}

/** OpenAPI 3.0 says by a flag that a bound itself is not allowed, later versions by another bound. */
function numberWithin(parts: readonly JsonObject[], whole: boolean): number {
  const isOpen = (key: string) => parts.some((part) => part[key] === true);
  const above = numbers(parts, 'exclusiveMinimum');
  const below = numbers(parts, 'exclusiveMaximum');
  const least = Math.max(...numbers(parts, 'minimum'), ...above);
  const most = Math.min(...numbers(parts, 'maximum'), ...below);
  const notLeast = isOpen('exclusiveMinimum') || above.includes(least);
  const notMost = isOpen('exclusiveMaximum') || below.includes(most);
  const step = numbers(parts, 'multipleOf').find((factor) => factor > 0) ?? (whole ? 1 : undefined);
  const fits = (value: number) =>
    (notLeast ? value > least : value >= least) && (notMost ? value < most : value <= most);
  const wishes =
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
  return wishes.find((value) => Number.isFinite(value) && fits(value) && isMultiple(value)) ?? 1;
}

function textWithin(parts: readonly JsonObject[]): string {
  const format = parts.map((part) => part.format).find((value) => typeof value === 'string') ?? '';
  const text = Object.hasOwn(texts, format) ? texts[format] : undefined;
  const least = Math.min(Math.max(0, ...numbers(parts, 'minLength')), longest);
  const most = Math.max(Math.min(longest, ...numbers(parts, 'maxLength')), 0);
  return text ?? 'string'.padEnd(least, '-').slice(0, most);
}
