/**
 * The OpenAPI 3.0.3 documents of the API, made from the operations: `cloud` has all of them, `marketplace` those of a
 * subscriber. `node contract/openapi/documents.ts` writes them beside this file, where they are checked in so that they can be read and
 * compared without running anything.
 */
import { writeFileSync } from 'node:fs';
import { ERROR_EXAMPLES, ERROR_STATUSES, type ErrorStatus } from '../errors.ts';
import { API_VERSION, IDEMPOTENCY_KEY_CHARS_MAX } from '../limits.ts';
import { listErrorStatuses, type Operation, type OperationResponse, TAGS, type Tag } from '../operation.ts';
import { operations } from '../operations.ts';
import { ComponentSchemas, type Json, type JsonObject, toJson } from './component-schemas.ts';
import { MARKETPLACE_OPERATIONS } from './marketplace.ts';

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
  'input-sets': 'What experiments run on: up to 20 inputs under one name, of runs or of managed inputs.',
  ensembles: 'Several runs of one input, of which the best by rules is kept.',
  'shadow-tests': 'What a candidate would have made of live runs: copies of them, which decide nothing.',
  'switchback-tests': 'Live runs served by baseline and candidate in turn, by a plan drawn at random.',
  'batch-experiments':
    'Batch experiments and scenario tests: instances and options side by side on the same inputs.',
  'acceptance-tests':
    'Whether a candidate may replace what runs today, by rules that were written down before.',
  webhooks: 'HTTP callbacks for status changes of runs, and the attempts to deliver them.',
  service: 'What those who operate the server ask it. No token is needed.',
};

function parameters(declared: Operation, components: ComponentSchemas): Json[] {
  const written: Json[] = [];
  for (const [place, schema] of [
    ['path', declared.params],
    ['query', declared.query],
    ['header', declared.headers],
  ] as const) {
    if (schema === undefined) continue;
    const required = new Set(place === 'path' ? Object.keys(schema.properties) : (schema.required ?? []));
    for (const [name, property] of Object.entries(schema.properties)) {
      const { description, ...rest } = components.schemaOrReference(
        property,
        `${declared.id} ${place} ${name}`,
      );
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

function requestBody(declared: Operation, components: ComponentSchemas): JsonObject {
  const { body } = declared;
  if (body === undefined) return {};
  return {
    requestBody: {
      required: body.required ?? true,
      content: {
        [body.stream ? 'application/octet-stream' : 'application/json']: {
          schema: components.schemaOrReference(body.schema, `${declared.id} body`),
          ...(body.example === undefined ? {} : { example: toJson(body.example) }),
        },
      },
    },
  };
}

function answer(
  declared: Operation,
  status: string,
  given: OperationResponse,
  components: ComponentSchemas,
): JsonObject {
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
        schema: components.schemaOrReference(given.schema, `${declared.id} ${status}`),
        ...(given.example === undefined ? {} : { example: toJson(given.example) }),
      },
    },
  };
}

/** `Bad Request` → `BadRequest`: the name of the shared answer of an error status. */
function errorName(status: ErrorStatus): string {
  return ERROR_STATUSES[status].statusText.replaceAll(' ', '');
}

function responses(declared: Operation, components: ComponentSchemas): JsonObject {
  const written: JsonObject = {};
  for (const [status, given] of Object.entries(declared.responses)) {
    if (given !== undefined) written[status] = answer(declared, status, given, components);
  }
  for (const status of listErrorStatuses(declared)) {
    written[String(status)] = { $ref: `#/components/responses/${errorName(status)}` };
  }
  return written;
}

function sharedErrors(components: ComponentSchemas, used: ReadonlySet<ErrorStatus>): JsonObject {
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
              schema: components.schemaOrReference(schema, errorName(status)),
              example: toJson(ERROR_EXAMPLES[status]),
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
    'Makes a call that is sent again take effect once: the same key and body answer what the first call answered, for 24 hours; the same key with another body is a 400, and so is, where the answer holds a token or an invite, the same from another API key.',
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
  const components = new ComponentSchemas();
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
  const errors = sharedErrors(components, new Set(declarations.flatMap(listErrorStatuses)));
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
      schemas: components.sortedSchemas(),
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
export function documentUrl(name: DocumentName): URL {
  return new URL(`./${name}.json`, import.meta.url);
}

/** The document as data. */
export function buildDocument(name: DocumentName): JsonObject {
  return documentOf(SUBJECTS[name]);
}

/** The document as it is checked in. */
export function renderDocument(name: DocumentName): string {
  return `${JSON.stringify(buildDocument(name), null, 2)}\n`;
}

if (import.meta.main) {
  for (const name of DOCUMENT_NAMES) writeFileSync(documentUrl(name), renderDocument(name));
}
