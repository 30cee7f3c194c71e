/**
 * The server and its published document agree on every body and query. The server accepts the shape of a valid value,
 * refuses an invalid one, and responds only with documented statuses.
 *
 * An operation inside an application is first sent to an application that does not exist. Validation precedes every
 * look-up, so a valid shape is a 404 and an invalid one a 400, whatever the rules are. The same body is then sent to an
 * application that exists.
 */
import { readFileSync } from 'node:fs';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInstance } from '../../testing/fixtures/resources.ts';
import { COMPLETE_BODIES } from '../../testing/http/complete-requests.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

const document = JSON.parse(
  readFileSync(new URL(import.meta.resolve('@switchyard/contract/openapi/cloud.json')), 'utf8'),
) as { paths: Record<string, Record<string, { responses: object; parameters?: Parameter[] }>> };
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: object;
}

const settings = { strict: false, validateFormats: true } as const;
const bodies = addFormats.default(new Ajv(settings)).addSchema({ $id: 'cloud', ...document });
const queries = addFormats.default(new Ajv({ ...settings, coerceTypes: true }));

const declared = Object.values(operations) as Operation[];
const operationsWithBody = declared.filter((one) => one.body && !one.body.stream);
// The query of a worker has one value: the version of the protocol.
const operationsWithQuery = declared.filter((one) => one.query && !['public', 'work'].includes(one.right));
const RUNS = { seed: 20_261_120, numRuns: 25 } as const;

let server: TestServer;
let application: string;
let workerToken: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createInstance(server);
  workerToken = (await createWorkerToken(server)).token;
});
afterAll(() => server.close());

const formatPath = (operation: Operation, app: string): string =>
  operation.path
    .replace('{application_id}', app)
    .replace('{version_id}', 'v1')
    .replace('{instance_id}', 'i1')
    .replace('{fence}', '1')
    .replaceAll(/\{\w+\}/g, 'missing');
const findDocumented = (operation: Operation) =>
  document.paths[operation.path]?.[operation.method.toLowerCase()] ?? { responses: {} };
const formatSchemaPointer = (operation: Operation): string =>
  `cloud#/paths/${encodeURIComponent(operation.path.replaceAll('/', '~1'))}/${operation.method.toLowerCase()}/requestBody/content/application~1json/schema`;

/** The 400 of a rule beyond the schema: a duplicate email, name or id, an endpoint that is not a public URL, or a wrong label. */
const REFUSED =
  /^\{"status":"Bad Request","error":"(email is .*, which another member has|admins has .* twice|subscription_id is .*; it must be that of a released app|name is .*, or be the id|labels has .*; a label is|all_accounts is true and applications is given|id is .*, which another webhook of the account has|endpoint_url is .*; (it must|\S+ is not a public address))/;

/** The refusal of a field that the update cannot change. */
const FIXED = /an id never changes|this request cannot change it/;

/** Values at the limits of types, lengths and numbers. */
const EDGES = [
  null,
  true,
  0,
  -0,
  1,
  9,
  10,
  1.5,
  1e21,
  '',
  'ab',
  'abc',
  'x'.repeat(48),
  'x'.repeat(49),
  '🚚'.repeat(48),
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(129),
  'x'.repeat(257),
  'x'.repeat(1025),
  'a\0b',
  '\ud83d',
  'V1',
  'v1',
  'latest',
  'json',
  'all',
  [],
  [null],
  ['viewer'],
  {},
  { type: 'json' },
  { a: null },
];
const value = fc.oneof(fc.constantFrom<unknown>(...EDGES), fc.jsonValue({ maxDepth: 2 }));
const key = fc.constantFrom(
  'id',
  'name',
  'role',
  'nam',
  '__proto__',
  'constructor',
  '',
  'options',
  'input',
  'ä',
);
interface Change {
  kind: 'set' | 'remove' | 'add';
  at: number;
  key: string;
  value: unknown;
}
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('set' as const, 'set' as const, 'remove' as const, 'add' as const),
  at: fc.nat(),
  key,
  value,
});

/** Returns every position inside the value: its container and its key. */
function listPositions(inside: unknown): [Record<string, unknown>, string][] {
  if (typeof inside !== 'object' || inside === null) return [];
  const container = inside as Record<string, unknown>;
  return Object.entries(container).flatMap(([name, one]) => [[container, name], ...listPositions(one)]);
}

/** Returns the JSON of the body after the changes. */
function mutate(body: unknown, changes: readonly Change[]): string {
  const root: Record<string, unknown> = { body: structuredClone(body) };
  for (const one of changes) {
    const positions = listPositions(root);
    const [container, name] = positions[one.at % positions.length] ?? [root, 'body'];
    const target = container[name];
    if (one.kind === 'remove' && container !== root) delete container[name];
    else if (one.kind === 'add' && typeof target === 'object' && target !== null && !Array.isArray(target))
      Object.defineProperty(target, one.key, {
        value: one.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else container[name] = one.value;
  }
  return JSON.stringify(root.body);
}

function expectDocumented(operation: Operation, status: number, sent: string): void {
  expect(Object.keys(findDocumented(operation).responses), `${status} for ${sent}`).toContain(String(status));
}

describe('the document and the server agree on the body of', () => {
  test('every operation with a body, each with a complete example', () => {
    expect(Object.keys(COMPLETE_BODIES).sort()).toEqual(operationsWithBody.map((one) => one.id).sort());
  });

  test.each(operationsWithBody)('$id', async (operation) => {
    const validate = bodies.getSchema(formatSchemaPointer(operation)) as ValidateFunction;
    expect(validate, formatSchemaPointer(operation)).toBeTypeOf('function');
    const inApplication = operation.path.includes('{application_id}');
    const token = operation.right === 'work' ? workerToken : server.token;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 3 }), async (changes) => {
        const sent = mutate(COMPLETE_BODIES[operation.id], changes);
        const valid = validate(JSON.parse(sent));
        const validated = await server.request(operation.method, formatPath(operation, 'missing'), {
          body: sent,
          token,
        });
        expectDocumented(operation, validated.status, sent);
        const message = `${sent} → ${validated.status} ${validated.text}\n${JSON.stringify(validate.errors)}`;
        if (!valid || FIXED.test(validated.text)) expect(validated.status, message).toBe(400);
        else if (inApplication) expect(validated.status, message).toBe(404);
        else if (validated.status !== 400) expect([200, 201, 403, 404], message).toContain(validated.status);
        else expect(validated.text, message).toMatch(REFUSED);
        // An invalid shape is refused before the look-up of the application.
        if (!valid || !inApplication) return;
        const real = await server.request(operation.method, formatPath(operation, application), {
          body: sent,
        });
        expectDocumented(operation, real.status, sent);
      }),
      RUNS,
    );
  });
});

const text = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '50',
    '51',
    '-1',
    '1.5',
    '1e1',
    'abc',
    'true',
    'false',
    'TRUE',
    'json',
    'url',
    'xml',
  ),
  fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    'latest',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).map((one) => one.toWellFormed()),
);

describe('the document and the server agree on the query of', () => {
  test.each(operationsWithQuery)('$id', async (operation) => {
    const known = (findDocumented(operation).parameters ?? []).filter((one) => one.in === 'query');
    const schema = {
      type: 'object',
      properties: Object.fromEntries(known.map((one) => [one.name, one.schema])),
      required: known.filter((one) => one.required).map((one) => one.name),
      // OpenAPI cannot express that the server refuses unknown parameters.
      additionalProperties: false,
    };
    const validate = queries.compile(schema);
    const names = known.map((one) => one.name);
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...names, 'other'), text, { maxKeys: 3 }),
        async (parameters) => {
          const query = new URLSearchParams(parameters).toString();
          const valid = validate({ ...parameters });
          const body = operation.body ? {} : undefined;
          const validated = await server.request(
            operation.method,
            `${formatPath(operation, 'missing')}?${query}`,
            {
              body,
            },
          );
          expectDocumented(operation, validated.status, query);
          const message = `${query} → ${validated.status} ${validated.text}`;
          if (!valid) expect(validated.status, message).toBe(400);
          // The server runs without the console, which has the files, and no program waits for a decision.
          else if (
            operation.path.includes('{') ||
            ['getCommunityFile', 'getDeviceAuthorization'].includes(operation.id)
          )
            expect(validated.status, message).toBe(404);
          // A rule beyond the schema refuses a page token that the server did not issue.
          else if (!parameters.pagetoken)
            expect(validated.status, message).toBe(operation.method === 'DELETE' ? 204 : 200);
          const real = await server.request(
            operation.method,
            `${formatPath(operation, application)}?${query}`,
            {
              body,
            },
          );
          expectDocumented(operation, real.status, query);
        },
      ),
      RUNS,
    );
  });
});
