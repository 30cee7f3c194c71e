/**
 * The OpenAPI 3.0.3 documents of the API, made from the operations: `cloud` has all of them, `marketplace` those of a
 * subscriber. `node contract/openapi.ts` writes them to openapi/, where they are checked in so that they can be read and
 * compared without running anything.
 *
 * A schema with an `$id` becomes a component and a `$ref`. Only keywords that 3.0.3 has are let through: one that it does
 * not have stops the generation, because leaving it out would make the document promise less than the server enforces.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ERROR_EXAMPLES, ERROR_STATUSES, type ErrorStatus } from './errors.ts';
import { API_VERSION, IDEMPOTENCY_KEY_CHARS_MAX } from './limits.ts';
import { MARKETPLACE_OPERATIONS } from './marketplace.ts';
import { type Answer, errorStatuses, type Operation, TAGS, type Tag } from './operation.ts';
import { operations } from './operations.ts';

const TAG_DESCRIPTIONS: Record<Tag, string> = {
  account: 'The account a token belongs to, its members, and the keys that let callers in.',
  accounts: 'The accounts of the server: signing up, and what its operator does about others.',
  applications: 'The home of a decision model: its executables, versions, instances and runs.',
  executables: 'What an application runs, pushed as an archive in three steps.',
  versions: 'Names for executables; what a version runs never changes.',
  instances: 'What runs are addressed to: a version with a configuration.',
  secrets: 'Values that apps need and nobody else should see, kept encrypted.',
  runs: 'Executions of an instance on an input: made, followed, read and canceled.',
  inputs: 'Inputs with a name, kept to run and to test on again.',
  service: 'What those who operate the server ask it. No token is needed.',
};

/** Keywords of a 3.0.3 schema whose values are taken over as they are, in the order they are written. */
const PLAIN_KEYWORDS = [
  'type',
  'format',
  'nullable',
  'enum',
  'title',
  'description',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'example',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
] as const;
const LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf'] as const;
const NESTED_KEYWORDS = ['items', 'additionalProperties', 'not'] as const;
const KNOWN_KEYWORDS = new Set<string>([
  '$id',
  'properties',
  ...PLAIN_KEYWORDS,
  ...LIST_KEYWORDS,
  ...NESTED_KEYWORDS,
]);

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Collects the named schemas a document refers to. */
export class Components {
  readonly #sources = new Map<string, unknown>();
  readonly #schemas = new Map<string, JsonObject>();

  /** The schema as the document writes it: a reference when it has a name. `where` is for error messages. */
  refer(schema: unknown, where: string): JsonObject {
    const source = objectAt(schema, where);
    const id = source.$id;
    if (id === undefined) return this.#write(source, where);
    if (typeof id !== 'string' || !/^[A-Za-z0-9]+$/.test(id)) {
      throw new Error(
        `The $id at ${where} is ${JSON.stringify(id)}; it must be one word of letters and digits.`,
      );
    }
    const known = this.#sources.get(id);
    if (known === undefined) {
      this.#sources.set(id, source);
      this.#schemas.set(id, this.#write(source, id));
    } else if (!isDeepStrictEqual(known, source)) {
      throw new Error(
        `Two different schemas have the $id ${id}, one of them at ${where}; give one another name.`,
      );
    }
    return { $ref: `#/components/schemas/${id}` };
  }

  sorted(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #write(source: Record<string, unknown>, where: string): JsonObject {
    refuseForeign(source, where);
    const written: JsonObject = {};
    for (const keyword of PLAIN_KEYWORDS) {
      if (source[keyword] !== undefined) written[keyword] = json(source[keyword]);
    }
    if (source.properties !== undefined) {
      const entries = Object.entries(objectAt(source.properties, `${where}.properties`));
      written.properties = Object.fromEntries(
        entries.map(([key, value]) => [key, this.refer(value, `${where}.${key}`)]),
      );
    }
    for (const keyword of LIST_KEYWORDS) {
      const choices = source[keyword];
      if (Array.isArray(choices)) {
        written[keyword] = choices.map((choice, index) =>
          this.refer(choice, `${where}.${keyword}[${index}]`),
        );
      }
    }
    for (const keyword of NESTED_KEYWORDS) {
      const nested = source[keyword];
      if (typeof nested === 'boolean') written[keyword] = nested;
      else if (nested !== undefined) written[keyword] = this.refer(nested, `${where}.${keyword}`);
    }
    return written;
  }
}

function refuseForeign(source: Record<string, unknown>, where: string): void {
  for (const keyword of Object.keys(source)) {
    if (!KNOWN_KEYWORDS.has(keyword)) {
      throw new Error(`The schema at ${where} uses ${keyword}, which OpenAPI 3.0.3 does not have.`);
    }
  }
  if (source.type !== undefined && typeof source.type !== 'string') {
    throw new Error(
      `The schema at ${where} has a list of types; OpenAPI 3.0.3 takes one, and nullable: true.`,
    );
  }
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (source[keyword] !== undefined && typeof source[keyword] !== 'boolean') {
      throw new Error(
        `${keyword} at ${where} is not a boolean; in OpenAPI 3.0.3 it goes with minimum or maximum.`,
      );
    }
  }
  if (source.nullable === true && source.type === undefined) {
    throw new Error(`The schema at ${where} is nullable without a type; OpenAPI 3.0.3 ignores that.`);
  }
  if (Array.isArray(source.items)) {
    throw new Error(`The schema at ${where} is a tuple; OpenAPI 3.0.3 has one schema for all items.`);
  }
}

function objectAt(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`There is no schema at ${where}.`);
  }
  return value as Record<string, unknown>;
}

/** A copy that holds JSON only. */
function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function parameters(declared: Operation, components: Components): Json[] {
  const written: Json[] = [];
  for (const [place, schema] of [
    ['path', declared.params],
    ['query', declared.query],
    ['header', declared.headers],
  ] as const) {
    if (schema === undefined) continue;
    const required = new Set(place === 'path' ? Object.keys(schema.properties) : (schema.required ?? []));
    for (const [name, property] of Object.entries(schema.properties)) {
      const { description, ...rest } = components.refer(property, `${declared.id} ${place} ${name}`);
      written.push({
        name,
        in: place,
        ...(description === undefined ? {} : { description }),
        required: required.has(name),
        schema: rest,
      });
    }
  }
  if (declared.method === 'POST' && (declared.right !== 'public' || declared.optionalToken)) {
    written.push({ $ref: '#/components/parameters/IdempotencyKey' });
  }
  return written;
}

function requestBody(declared: Operation, components: Components): JsonObject {
  const { body } = declared;
  if (body === undefined) return {};
  return {
    requestBody: {
      required: body.required ?? true,
      content: {
        [body.stream ? 'application/octet-stream' : 'application/json']: {
          schema: components.refer(body.schema, `${declared.id} body`),
          ...(body.example === undefined ? {} : { example: json(body.example) }),
        },
      },
    },
  };
}

function answer(declared: Operation, status: string, given: Answer, components: Components): JsonObject {
  const headers = Object.entries(given.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const head: JsonObject = {
    description: given.description,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) as JsonObject }),
  };
  if (given.schema === undefined) return head;
  return {
    ...head,
    content: {
      [given.contentType ?? 'application/json']: {
        schema: components.refer(given.schema, `${declared.id} ${status}`),
        ...(given.example === undefined ? {} : { example: json(given.example) }),
      },
    },
  };
}

/** `Bad Request` → `BadRequest`: the name of the shared answer of an error status. */
function errorName(status: ErrorStatus): string {
  return ERROR_STATUSES[status].words.replaceAll(' ', '');
}

function responses(declared: Operation, components: Components): JsonObject {
  const written: JsonObject = {};
  for (const [status, given] of Object.entries(declared.answers)) {
    if (given !== undefined) written[status] = answer(declared, status, given, components);
  }
  for (const status of errorStatuses(declared)) {
    written[String(status)] = { $ref: `#/components/responses/${errorName(status)}` };
  }
  return written;
}

function sharedErrors(components: Components, used: ReadonlySet<ErrorStatus>): JsonObject {
  const statuses = (Object.keys(ERROR_STATUSES).map(Number) as ErrorStatus[]).filter((one) => used.has(one));
  return Object.fromEntries(
    statuses.map((status) => {
      const { description, schema } = ERROR_STATUSES[status];
      return [
        errorName(status),
        {
          description,
          ...(ERROR_HEADERS[status] ? { headers: ERROR_HEADERS[status] } : {}),
          content: {
            'application/json': {
              schema: components.refer(schema, errorName(status)),
              example: json(ERROR_EXAMPLES[status]),
            },
          },
        },
      ];
    }),
  );
}

/** A run that finds no free capacity gets none of those of a 429; they are about the rate of requests. */
const ERROR_HEADERS: Partial<Record<ErrorStatus, JsonObject>> = {
  401: {
    'WWW-Authenticate': {
      description: 'The scheme that would be right: Bearer.',
      schema: { type: 'string' },
    },
  },
  416: {
    'Content-Range': {
      description: 'How many bytes there are: `bytes */` and their number.',
      schema: { type: 'string' },
    },
  },
  429: {
    'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'integer' } },
    RateLimit: {
      description: 'What is left for the key: `r` requests, and `t` seconds until there is more.',
      schema: { type: 'string' },
    },
    'RateLimit-Policy': {
      description: 'The rate of the key: `q` requests in `w` seconds.',
      schema: { type: 'string' },
    },
  },
};

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a call that is sent again take effect once: the same key and body answer what the first call answered, for 24 hours; the same key with another body is a 400.',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_CHARS_MAX,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Visible ASCII characters.',
  },
};

const BEARER: JsonObject = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The token of a key of the account.',
};

/** What a document is about, beside its operations. */
interface Subject {
  title: string;
  description: string;
  operations: readonly Operation[];
}

function documentOf({ title, description, operations: declarations }: Subject): JsonObject {
  const components = new Components();
  const paths: { [path: string]: JsonObject } = {};
  for (const declared of declarations) {
    const methods = paths[declared.path] ?? {};
    paths[declared.path] = methods;
    const list = parameters(declared, components);
    methods[declared.method.toLowerCase()] = {
      operationId: declared.id,
      tags: [declared.tag],
      summary: declared.summary,
      description: declared.description,
      ...(declared.right === 'public'
        ? { security: declared.optionalToken ? [{}, { bearer: [] }] : [] }
        : {}),
      ...(list.length === 0 ? {} : { parameters: list }),
      ...requestBody(declared, components),
      responses: responses(declared, components),
    };
  }
  const errors = sharedErrors(components, new Set(declarations.flatMap(errorStatuses)));
  const tags = new Set(declarations.map((declared) => declared.tag));
  return {
    openapi: '3.0.3',
    info: {
      title,
      version: API_VERSION,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from.' }],
    security: [{ bearer: [] }],
    tags: TAGS.filter((name) => tags.has(name)).map((name) => ({
      name,
      description: TAG_DESCRIPTIONS[name],
    })),
    paths,
    components: {
      securitySchemes: { bearer: BEARER },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      responses: errors,
      schemas: components.sorted(),
    },
  };
}

export const DOCUMENT_NAMES = ['cloud', 'marketplace'] as const;
export type DocumentName = (typeof DOCUMENT_NAMES)[number];

const SUBJECTS: Record<DocumentName, Subject> = {
  cloud: {
    title: 'cloud API',
    description: 'Push decision apps, run them, and prove every change before it decides anything real.',
    operations: Object.values(operations),
  },
  marketplace: {
    title: 'marketplace API',
    description:
      'Run decision apps that somebody else made and keeps: what a subscriber of a subscription app may call. A key with the role operator has the rights for all of it.',
    operations: MARKETPLACE_OPERATIONS.map((id) => operations[id]),
  },
};

/** Where the document is checked in. */
export function documentPlace(name: DocumentName): URL {
  return new URL(`./openapi/${name}.json`, import.meta.url);
}

/** The document as data. */
export function openapiDocument(name: DocumentName): JsonObject {
  return documentOf(SUBJECTS[name]);
}

/** The document as it is checked in. */
export function documentText(name: DocumentName): string {
  return `${JSON.stringify(openapiDocument(name), null, 2)}\n`;
}

if (import.meta.main) {
  mkdirSync(new URL('./openapi/', import.meta.url), { recursive: true });
  for (const name of DOCUMENT_NAMES) writeFileSync(documentPlace(name), documentText(name));
}
