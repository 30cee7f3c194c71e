/** Shapes that several resources share: names, descriptions, times, options, formats. */
import Type, { type Static, type TSchema } from 'typebox';
import { EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from '../execution-classes.ts';
import {
  DESCRIPTION_CHARS_MAX,
  EMAIL_CHARS_MAX,
  ID_CHARS_MAX,
  NAME_CHARS_MAX,
  NAME_CHARS_MIN,
  OPTIONS_CHARS_MAX,
  PRIORITY_DEFAULT,
  PRIORITY_MAX,
  PRIORITY_MIN,
} from '../limits.ts';
import { NO_NUL_PATTERN } from './ids.ts';

/** One of a few words. A plain `enum` of strings: unions of literals make long documents and poor error messages. */
export function stringEnum<const T extends readonly string[]>(values: T, description: string) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });
}

/**
 * The same schema, null allowed. `nullable` is the keyword of OpenAPI 3.0, which Ajv knows too, so that the document and
 * the server say the same. Clients send null for what they were not given. A named schema loses its name: what may be
 * null is another schema, and two with one name are refused by document and validator.
 */
export function nullable<T extends TSchema>(schema: T) {
  const choices = 'enum' in schema && Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  const { $id: _, ...unnamed } = schema as T & { $id?: string };
  return Type.Unsafe<Static<T> | null>({ ...unnamed, ...choices, nullable: true });
}

/** A field that may be absent or null; both mean "not given". */
export function optionalNullable<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema));
}

/** A map from any key to one kind of value. Keys are checked by rules, not by a pattern, which documents cannot say. */
export function mapOf<T extends TSchema>(value: T, description: string) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, description });
}

/** Any JSON object. */
export function anyObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });
}

/** A field that existing clients send and that means nothing here: accepted, ignored. */
export function ignoredField() {
  return Type.Optional(
    Type.Unknown({ description: 'Accepted for existing clients and ignored.', deprecated: true }),
  );
}

export function name(noun: string) {
  return Type.String({
    minLength: NAME_CHARS_MIN,
    maxLength: NAME_CHARS_MAX,
    pattern: NO_NUL_PATTERN,
    description: `Name of the ${noun}, ${NAME_CHARS_MIN} to ${NAME_CHARS_MAX} characters.`,
  });
}

/** The keyword with the length of a name that is not the id. */
export const NAME_LENGTH_KEYWORD = 'x-characters-unless-id';

/** Name of something whose id the caller chooses. The server checks the length of a name that is not the id. */
export function nameOrId(noun: string, { min, max } = { min: NAME_CHARS_MIN, max: NAME_CHARS_MAX }) {
  return Type.String({
    minLength: 1,
    maxLength: Math.max(max, ID_CHARS_MAX),
    pattern: NO_NUL_PATTERN,
    // For the sentence that refuses a name that is too long even for an id.
    [NAME_LENGTH_KEYWORD]: `${min} to ${max}`,
    description: `Name of the ${noun}, ${min} to ${max} characters. A name that equals the id may have 1 to ${ID_CHARS_MAX}.`,
  });
}

export function description(noun: string, max = DESCRIPTION_CHARS_MAX) {
  return Type.String({
    maxLength: max,
    pattern: NO_NUL_PATTERN,
    description: `Description of the ${noun}, at most ${max} characters.`,
  });
}

export function text(what: string, options: { min?: number; max: number }) {
  return Type.String({
    minLength: options.min ?? 0,
    maxLength: options.max,
    pattern: NO_NUL_PATTERN,
    description: what,
  });
}

/** Two parts with an @ between them; a host without a dot, as in `root@localhost`, is one too. */
export const EMAIL_PATTERN = '^[^@\\u0000-\\u0020\\u007f]+@[^@\\u0000-\\u0020\\u007f]+$';

export function email(what: string) {
  return Type.String({ maxLength: EMAIL_CHARS_MAX, pattern: EMAIL_PATTERN, description: what });
}

export function timestamp(what: string) {
  return Type.String({ format: 'date-time', description: `${what}, RFC 3339 in UTC.` });
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

/** Format of what goes in and comes out. */
export const Format = Type.Object(
  { input: Type.Optional(FormatSide), output: Type.Optional(FormatSide) },
  {
    description:
      'Formats of input and output. What the manifest of the app says holds, but for a choice between json and text.',
  },
);

const OptionValue = Type.Unsafe<string | number | boolean>({
  anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
  description: 'Value of the option; numbers and booleans are turned into text.',
});

/** Options as callers send them; values become strings. */
export const Options = mapOf(
  OptionValue,
  `Options of the app: names as its manifest declares them, or of letters, digits and periods, and values as text. Those of the run, its instance and its version together have at most ${OPTIONS_CHARS_MAX} characters, written as JSON.`,
);

/** Options as they are kept and handed to the app: strings always. */
export const StringOptions = mapOf(Type.String(), 'Options of the app, values as text.');

export const Queuing = Type.Object(
  {
    priority: Type.Optional(
      Type.Integer({
        minimum: PRIORITY_MIN,
        maximum: PRIORITY_MAX,
        description: `Priority in the queue: ${PRIORITY_MIN} is served first, ${PRIORITY_MAX} last; ${PRIORITY_DEFAULT} when nothing is said.`,
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({
        description: 'Refuse with 429 instead of waiting when the execution class has no free capacity.',
      }),
    ),
  },
  { description: 'How runs wait for capacity.' },
);

export const ExecutionClassName = stringEnum(
  EXECUTION_CLASSES,
  `Execution class: cores, memory and seconds a run may use. ${EXECUTION_CLASS_DEFAULT} when nothing is said.`,
);
