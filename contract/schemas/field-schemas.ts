/** Schemas that several resources share: names, descriptions, times, options, formats. */
import Type, { type Static, type TSchema } from 'typebox';
import { EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from '../execution-classes.ts';
import {
  DESCRIPTION_CHARS_MAX,
  EMAIL_CHARS_MAX,
  ID_CHARS_MAX,
  MAX_DURATION_SECONDS_MAX,
  NAME_CHARS_MAX,
  NAME_CHARS_MIN,
  OPTIONS_CHARS_MAX,
  PRIORITY_DEFAULT,
  PRIORITY_MAX,
  PRIORITY_MIN,
} from '../limits.ts';
import { NAME_PATTERN, NO_NUL_PATTERN } from './ids.ts';

/** Returns a plain `enum` of strings: a union of literals makes long documents and poor error messages. */
export function stringEnum<const T extends readonly string[]>(values: T, description: string) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });
}

/**
 * Returns the same schema with null allowed. `nullable` is the keyword of OpenAPI 3.0, which Ajv supports, so document
 * and server agree. Clients send null for absent values. A named schema loses its `$id`: document and validator refuse
 * two different schemas with one name.
 */
export function nullable<T extends TSchema>(schema: T) {
  const choices = 'enum' in schema && Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  const { $id: _, ...unnamed }: TSchema & { $id?: string } = schema;
  return Type.Unsafe<Static<T> | null>({ ...unnamed, ...choices, nullable: true });
}

/** Returns a schema for a field that may be absent or null; both mean "not given". */
export function optionalNullable<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema));
}

/** Returns a map from any key to one type of value. Rules check the keys, because OpenAPI 3.0 cannot describe them. */
export function mapSchema<T extends TSchema>(value: T, description: string) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, description });
}

/** Returns a schema for any JSON object. */
export function objectSchema(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });
}

/** Returns a schema for a field that existing clients send and the server ignores. */
export function ignoredFieldSchema() {
  return Type.Optional(
    Type.Unknown({ description: 'Accepted for compatibility and ignored.', deprecated: true }),
  );
}

/** Returns a schema for a name with 3 to 48 characters. */
export function nameSchema(noun: string) {
  return Type.String({
    minLength: NAME_CHARS_MIN,
    maxLength: NAME_CHARS_MAX,
    pattern: NAME_PATTERN,
    description: `Name of the ${noun}, ${NAME_CHARS_MIN} to ${NAME_CHARS_MAX} characters.`,
  });
}

/** The keyword with the allowed length of a name that differs from the id. */
export const NAME_LENGTH_KEYWORD = 'x-characters-unless-id';

/** Returns a schema for the name of a resource with a caller-chosen id. The server checks the length of other names. */
export function nameOrIdSchema(noun: string, { min, max } = { min: NAME_CHARS_MIN, max: NAME_CHARS_MAX }) {
  return Type.String({
    minLength: 1,
    maxLength: Math.max(max, ID_CHARS_MAX),
    pattern: NAME_PATTERN,
    // Needed by the error message for a name that is too long even for an id.
    [NAME_LENGTH_KEYWORD]: `${min} to ${max}`,
    description: `Name of the ${noun}, ${min} to ${max} characters. A name that equals the id may have 1 to ${ID_CHARS_MAX}.`,
  });
}

/**
 * The range of integers that JSON, JavaScript and both databases carry exactly. An integer of a request without bounds of its own
 * has these: SQLite cannot read a larger one back.
 */
export const EXACT_INTEGERS = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

/** Returns a schema for a number of things, 0 or more, that JSON carries exactly. */
export function countSchema(description: string, { min = 0, max = EXACT_INTEGERS.maximum } = {}) {
  return Type.Integer({ minimum: min, maximum: max, description });
}

/** Returns a schema for a description; `max` is in characters. */
export function descriptionSchema(noun: string, max = DESCRIPTION_CHARS_MAX) {
  return Type.String({
    maxLength: max,
    pattern: NO_NUL_PATTERN,
    description: `Description of the ${noun}, at most ${max} characters.`,
  });
}

/** Returns a schema for text without NUL; `min` and `max` are in characters, and the default of `min` is 0. */
export function textSchema(description: string, options: { min?: number; max: number }) {
  return Type.String({
    minLength: options.min ?? 0,
    maxLength: options.max,
    pattern: NO_NUL_PATTERN,
    description,
  });
}

/** Returns a schema for another name, such as that of a run or a tag: one line of visible text of `min` to `max` characters. */
export function nameTextSchema(description: string, options: { min?: number; max: number }) {
  return Type.String({
    minLength: options.min ?? 0,
    maxLength: options.max,
    pattern: NAME_PATTERN,
    description,
  });
}

const INVISIBLE = '\\u0000-\\u0020\\u007f-\\u00a0\\u061c\\u200b-\\u200f\\u2028-\\u202f\\u2060-\\u206f\\ufeff';
const LOCAL_WORD = `[^@."(),:;<>\\[\\]\\\\${INVISIBLE}]+`;
const HOST_LABEL = `[^!-,./:-@\\[-^\`{-~${INVISIBLE}]+`;
/**
 * Words with dots between them, an @, and a host, which needs no dot, as in `root@localhost`. Without the characters that
 * only a quoted local part may have (RFC 5322, section 3.2.3): `<ada@example.com` would be text of a message.
 */
export const EMAIL_PATTERN = `^${LOCAL_WORD}(\\.${LOCAL_WORD})*@${HOST_LABEL}(\\.${HOST_LABEL})*$`;

/** Returns a schema for an e-mail address. */
export function emailSchema(description: string) {
  return Type.String({ maxLength: EMAIL_CHARS_MAX, pattern: EMAIL_PATTERN, description });
}

/** Returns a schema for an RFC 3339 timestamp in UTC. The description is a phrase without a full stop. */
export function timestampSchema(description: string) {
  return Type.String({ format: 'date-time', description: `${description} (RFC 3339, UTC).` });
}

export const FORMAT_TYPES = ['json', 'text', 'csv-archive', 'multi-file'] as const;
export type FormatType = (typeof FORMAT_TYPES)[number];

/** Returns true for the formats whose content is an archive of files. */
export function isArchive(format: FormatType): boolean {
  return format === 'csv-archive' || format === 'multi-file';
}

export const FormatSide = Type.Object(
  { type: stringEnum(FORMAT_TYPES, 'Format of the content.') },
  { description: 'Format of one side.' },
);

/** Formats of input and output. */
export const Format = Type.Object(
  { input: Type.Optional(FormatSide), output: Type.Optional(FormatSide) },
  {
    description:
      'Formats of input and output, as the manifest of the app defines them. You can choose only between json and text.',
  },
);

const OptionValue = Type.Unsafe<string | number | boolean>({
  anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
  description: 'Value of the option. Numbers and booleans become text.',
});

/** Options as callers send them; values become strings. */
export const Options = mapSchema(
  OptionValue,
  `Options of the app, by name. A name is declared by the manifest, or consists of letters, digits and periods. The options of run, instance and version have at most ${OPTIONS_CHARS_MAX} characters together, as JSON.`,
);

/** Options as stored and passed to the app: always strings. */
export const StringOptions = mapSchema(Type.String(), 'Options of the app, with values as text.');

/** A shorter bound on the duration of a run than that of its execution class. */
export const MaxDuration = Type.Integer({
  minimum: 1,
  maximum: MAX_DURATION_SECONDS_MAX,
  description:
    'Maximum duration of the run in seconds, at most that of its execution class, which is the default. The app gets it in `SWITCHYARD_MAX_DURATION`. After this time it gets SIGTERM, and the output that it has printed is stored. Beyond the specification.',
});

export const Queuing = Type.Object(
  {
    priority: Type.Optional(
      Type.Integer({
        minimum: PRIORITY_MIN,
        maximum: PRIORITY_MAX,
        description: `Priority in the queue, from ${PRIORITY_MIN} (first) to ${PRIORITY_MAX} (last). The default is ${PRIORITY_DEFAULT}.`,
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'true: a run without free capacity in its execution class gets a 429 instead of waiting.',
      }),
    ),
  },
  { description: 'Queuing of runs.' },
);

export const ExecutionClassName = stringEnum(
  EXECUTION_CLASSES,
  `Execution class: cores, memory and duration of a run. The default is ${EXECUTION_CLASS_DEFAULT}.`,
);
