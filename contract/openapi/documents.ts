/**
 * Generates the OpenAPI 3.0.3 documents from the operations: `cloud` has all of them, `marketplace` those of a
 * subscriber. `node contract/openapi/documents.ts` writes them beside this file. They are checked in, so that a reader
 * can compare versions without running the code.
 */
import { writeFileSync } from 'node:fs';
import { ERROR_EXAMPLES, ERROR_STATUSES, type ErrorStatus } from '../errors.ts';
import { API_VERSION, IDEMPOTENCY_KEY_CHARS_MAX } from '../limits.ts';
import { listErrorStatuses, type Operation, type OperationResponse, TAGS, type Tag } from '../operation.ts';
import { operations } from '../operations.ts';
import { ComponentSchemas, type Json, type JsonObject, toJson } from './component-schemas.ts';
import { MARKETPLACE_OPERATIONS } from './marketplace.ts';

const TAG_DESCRIPTIONS: Record<Tag, string> = {
  account: 'The account of a token, its members, and its API keys.',
  accounts: "The accounts of the server: sign-up, and operations for the server's operator.",
  sessions: 'Sessions of the console, and the links that sign in to it.',
  'device-authorizations': 'Sign-in of programs on other machines, approved in the console.',
  usage: 'Usage and cost of runs.',
  applications: 'Decision models, each with its executables, versions, instances and runs.',
  executables: 'The programs of applications, pushed as archives in three steps.',
  versions: 'Immutable names for executables.',
  instances: 'Versions with a configuration, to which runs refer.',
  retention: 'How long runs stay, tags that keep them, and the storage of applications.',
  secrets: 'Confidential values for apps, stored encrypted.',
  runs: 'Executions of an instance on an input: create, follow, read and cancel them.',
  views: 'Saved filters, order and columns of the table of runs.',
  'worker-protocol':
    'The protocol between the server and its remote workers. `npm run worker` speaks it; no other program needs it.',
  workers: 'The processes that execute runs: their slots, their runs, and draining them.',
  'share-links': 'Read-only pages of runs for people without an account.',
  inputs: 'Named inputs that runs and experiments can reuse.',
  'input-sets': 'Inputs under one name, from runs or managed inputs, as the data of experiments.',
  ensembles: 'Several runs on one input, of which rules select the best.',
  'shadow-tests': 'Test a candidate on copies of live runs, without any effect on decisions.',
  'switchback-tests': 'Alternate live runs between a baseline and a candidate by a random plan.',
  'batch-experiments':
    'Batch experiments and scenario tests: compare instances and options on the same inputs.',
  'experiment-plans': 'How many inputs, repetitions or units an experiment needs.',
  'acceptance-tests': 'Decide by predefined rules whether a candidate may replace the current instance.',
  'bisect-experiments': 'Find the version that made an indicator worse.',
  webhooks: 'HTTP callbacks for status changes of runs, and the attempts to deliver them.',
  marketplace: 'Apps that accounts of the server publish, and subscriptions to them.',
  community: 'The sample apps of the server, in the form of the published client.',
  backups: 'Backups of the server, which a command makes.',
  service: 'Operations for those who run the server. No token is needed.',
};

function writeParameters(declared: Operation, components: ComponentSchemas): Json[] {
  const written: Json[] = [];
  for (const [place, schema] of [
    ['path', declared.params],
    ['query', declared.query],
    ['header', declared.headers],
  ] as const) {
    if (schema === undefined) continue;
    const required = new Set(place === 'path' ? Object.keys(schema.properties) : (schema.required ?? []));
    for (const [name, property] of Object.entries(schema.properties)) {
      const { description, ...rest } = components.writeSchema(property, `${declared.id} ${place} ${name}`);
      written.push({
        name,
        in: place,
        ...(description === undefined ? {} : { description }),
        required: required.has(name),
        schema: rest,
      });
    }
  }
  const changes = declared.right !== 'read' && (declared.right !== 'public' || declared.optionalToken);
  if (declared.method === 'POST' && changes) {
    written.push({ $ref: '#/components/parameters/IdempotencyKey' });
  }
  return written;
}

function writeRequestBody(declared: Operation, components: ComponentSchemas): JsonObject {
  const { body } = declared;
  if (body === undefined) return {};
  return {
    requestBody: {
      required: body.required ?? true,
      content: {
        [body.stream ? 'application/octet-stream' : 'application/json']: {
          schema: components.writeSchema(body.schema, `${declared.id} body`),
          ...(body.example === undefined ? {} : { example: toJson(body.example) }),
        },
      },
    },
  };
}

function writeResponse(
  declared: Operation,
  status: string,
  response: OperationResponse,
  components: ComponentSchemas,
): JsonObject {
  const headers: JsonObject = {};
  for (const [name, description] of Object.entries(response.headers ?? {})) {
    headers[name] = { description, schema: { type: 'string' } };
  }
  const head: JsonObject = {
    description: response.description,
    ...(response.headers === undefined ? {} : { headers }),
  };
  if (response.schema === undefined) return head;
  return {
    ...head,
    content: {
      [response.contentType ?? 'application/json']: {
        schema: components.writeSchema(response.schema, `${declared.id} ${status}`),
        ...(response.example === undefined ? {} : { example: toJson(response.example) }),
      },
      ...(response.alternative && {
        [response.alternative.contentType]: {
          schema: { type: 'string', description: response.alternative.description },
          example: response.alternative.example,
        },
      }),
    },
  };
}

/** `Bad Request` → `BadRequest`: the name of the shared response of an error status. */
function formatErrorName(status: ErrorStatus): string {
  return ERROR_STATUSES[status].statusText.replaceAll(' ', '');
}

function writeResponses(declared: Operation, components: ComponentSchemas): JsonObject {
  const written: JsonObject = {};
  for (const [status, response] of Object.entries(declared.responses)) {
    if (response !== undefined) written[status] = writeResponse(declared, status, response, components);
  }
  for (const status of listErrorStatuses(declared)) {
    written[String(status)] = { $ref: `#/components/responses/${formatErrorName(status)}` };
  }
  return written;
}

function writeErrorResponses(components: ComponentSchemas, used: ReadonlySet<ErrorStatus>): JsonObject {
  const statuses = [...used].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const { description, schema } = ERROR_STATUSES[status];
      return [
        formatErrorName(status),
        {
          description,
          ...(ERROR_HEADERS[status] ? { headers: ERROR_HEADERS[status] } : {}),
          content: {
            'application/json': {
              schema: components.writeSchema(schema, formatErrorName(status)),
              example: toJson(ERROR_EXAMPLES[status]),
            },
          },
        },
      ];
    }),
  );
}

/** A 429 for lack of free capacity has none of these headers, which describe the rate of requests. */
const ERROR_HEADERS: Partial<Record<ErrorStatus, JsonObject>> = {
  401: {
    'WWW-Authenticate': {
      description: 'The expected scheme: Bearer.',
      schema: { type: 'string' },
    },
  },
  409: {
    'Upload-Offset': {
      description: 'Number of the stored bytes of the upload.',
      schema: { type: 'integer' },
    },
  },
  416: {
    'Content-Range': {
      description: 'Size of the content in bytes: `bytes */` and the number.',
      schema: { type: 'string' },
    },
  },
  429: {
    'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
    RateLimit: {
      description: 'Remaining quota of the key: `r` requests, and `t` seconds until it increases.',
      schema: { type: 'string' },
    },
    'RateLimit-Policy': {
      description: 'Rate limit of the key: `q` requests in `w` seconds.',
      schema: { type: 'string' },
    },
  },
};

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a repeated call take effect once. For 24 hours, the same key with the same body returns the first response. The same key with another body returns 400. A response with a token or an invite is repeated only for the same API key; another key gets 400.',
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

/** Texts of a document, besides its operations. */
interface DocumentContent {
  title: string;
  description: string;
  operations: readonly Operation[];
}

function writeDocument({ title, description, operations: declarations }: DocumentContent): JsonObject {
  const components = new ComponentSchemas();
  const paths: { [path: string]: JsonObject } = {};
  for (const declared of declarations) {
    const methods = paths[declared.path] ?? {};
    paths[declared.path] = methods;
    const list = writeParameters(declared, components);
    methods[declared.method.toLowerCase()] = {
      operationId: declared.id,
      tags: [declared.tag],
      summary: declared.summary,
      description: declared.description,
      ...(declared.right === 'public'
        ? { security: declared.optionalToken ? [{}, { bearer: [] }] : [] }
        : {}),
      ...(list.length === 0 ? {} : { parameters: list }),
      ...writeRequestBody(declared, components),
      responses: writeResponses(declared, components),
    };
  }
  const errors = writeErrorResponses(components, new Set(declarations.flatMap(listErrorStatuses)));
  const tags = new Set(declarations.map((declared) => declared.tag));
  return {
    openapi: '3.0.3',
    info: {
      title,
      version: API_VERSION,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The server of this document.' }],
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
      schemas: components.listSorted(),
    },
  };
}

export const DOCUMENT_NAMES = ['cloud', 'marketplace'] as const;
export type DocumentName = (typeof DOCUMENT_NAMES)[number];

const DOCUMENTS: Record<DocumentName, DocumentContent> = {
  cloud: {
    title: 'cloud API',
    description: 'Push decision apps, run them, and test every change before you release it.',
    operations: Object.values(operations),
  },
  marketplace: {
    title: 'marketplace API',
    description:
      'Subscribe to decision apps that another account of the server publishes, run them on your inputs, and publish your own. Runs need the role operator, subscriptions the role developer, and publications the role admin.',
    operations: MARKETPLACE_OPERATIONS.map((id) => operations[id]),
  },
};

/** URL of the checked-in file. */
export function documentUrl(name: DocumentName): URL {
  return new URL(`./${name}.json`, import.meta.url);
}

/** Returns the document as data. */
export function buildDocument(name: DocumentName): JsonObject {
  return writeDocument(DOCUMENTS[name]);
}

/** Returns the document as the text of the checked-in file. */
export function renderDocument(name: DocumentName): string {
  return `${JSON.stringify(buildDocument(name), null, 2)}\n`;
}

if (import.meta.main) {
  for (const name of DOCUMENT_NAMES) writeFileSync(documentUrl(name), renderDocument(name));
}
