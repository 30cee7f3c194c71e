import { type Dict, isDict } from './json.ts';
import { partsOf, variantsOf } from './parts.ts';
import { follow } from './reference.ts';

/** Who writes the value: a caller leaves out what is read-only, a server what is write-only. */
export type Direction = 'request' | 'response';

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

/** What makes a value: it ends in circles, and after so many values that nobody reads on. */
type Sketching = { document: unknown; direction: Direction; left: number };
type Place = { around: readonly string[]; depth: number };

const deepest = 24;

/** A value of the schema, made from its examples, defaults and types. Undefined where a circle leaves nothing to say. */
export function sketch(document: unknown, schema: unknown, direction: Direction): unknown {
  return make({ document, direction, left: 400 }, schema, { around: [], depth: 0 });
}

function make(state: Sketching, schema: unknown, { around, depth }: Place): unknown {
  const { pointers } = follow(state.document, schema);
  const circle = pointers.some((pointer) => around.includes(pointer));
  if (circle || depth > deepest || state.left <= 0) return undefined;
  state.left -= 1;
  const inside = { around: [...around, ...pointers], depth: depth + 1 };
  const { parts } = partsOf(state.document, schema);
  const given = valueGiven(parts);
  if (given) return given.value;
  const variants = variantsOf(parts);
  const variant = variants.find((candidate) => !isNull(state.document, candidate));
  const chosen = variant === undefined ? undefined : make(state, variant, inside);
  if (
    parts.some(({ properties, additionalProperties }) => isDict(properties) || isDict(additionalProperties))
  ) {
    return { ...object(state, parts, inside), ...(isDict(chosen) ? chosen : {}) };
  }
  if (variant !== undefined) return chosen;
  const items = parts.find((part) => part.items !== undefined)?.items;
  const type = typeNamed(parts);
  if (type === 'array' || items !== undefined)
    return [make(state, items, inside)].filter((item) => item !== undefined);
  return simple(type, parts);
}

function typeNamed(parts: readonly Dict[]): unknown {
  const types = parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  return types.find((type) => typeof type === 'string' && type !== 'null');
}

function isNull(document: unknown, schema: unknown): boolean {
  const { parts } = partsOf(document, schema);
  return parts.some(
    ({ type, enum: values }) =>
      type === 'null' || (Array.isArray(values) && values.every((value) => value === null)),
  );
}

/** The value the schema itself names. */
function valueGiven(parts: readonly Dict[]): { value: unknown } | undefined {
  for (const part of parts) {
    if (part.example !== undefined) return { value: part.example };
    if (Array.isArray(part.examples) && part.examples.length > 0) return { value: part.examples[0] };
  }
  for (const part of parts) {
    if (part.const !== undefined) return { value: part.const };
    if (part.default !== undefined && part.default !== null) return { value: part.default };
    if (Array.isArray(part.enum) && part.enum.length > 0) return { value: part.enum[0] };
  }
  return undefined;
}

function object(state: Sketching, parts: readonly Dict[], place: Place): Dict {
  const required = new Set(parts.flatMap(({ required: names }) => (Array.isArray(names) ? names : [])));
  const entries = parts.flatMap(({ properties }) => Object.entries(isDict(properties) ? properties : {}));
  const unwanted = state.direction === 'request' ? 'readOnly' : 'writeOnly';
  const short = state.direction === 'request' && entries.some(([name]) => required.has(name));
  const made = new Map<string, unknown>();
  for (const [name, schema] of entries) {
    const skipped = partsOf(state.document, schema).parts.some((part) => part[unwanted] === true);
    if (skipped || (short && !required.has(name))) continue;
    const value = make(state, schema, place);
    if (value !== undefined) made.set(name, value);
  }
  const additional = parts.find((part) => isDict(part.additionalProperties))?.additionalProperties;
  if (additional !== undefined && entries.length === 0) {
    const value = make(state, additional, place);
    if (value !== undefined) made.set('name', value);
  }
  return Object.fromEntries(made);
}

function simple(type: unknown, parts: readonly Dict[]): unknown {
  const number = (key: string) => parts.map((part) => part[key]).find((value) => typeof value === 'number');
  if (type === 'integer' || type === 'number') {
    const least = number('minimum') ?? number('exclusiveMinimum');
    const strict =
      number('exclusiveMinimum') !== undefined ||
      parts.some(({ exclusiveMinimum }) => exclusiveMinimum === true);
    const value = least === undefined ? 1 : strict ? least + 1 : least;
    return Math.min(value, number('maximum') ?? value);
  }
  if (type === 'boolean') return true;
  if (type === 'string') {
    const format = parts.map((part) => part.format).find((value) => typeof value === 'string') ?? '';
    const text = Object.hasOwn(texts, format) ? texts[format] : undefined;
    const least = Math.min(number('minLength') ?? 0, 64);
    return text ?? 'string'.padEnd(least, '-').slice(0, Math.max(number('maxLength') ?? 64, 0));
  }
  return parts.some((part) => part.nullable === true) ? null : {};
}
