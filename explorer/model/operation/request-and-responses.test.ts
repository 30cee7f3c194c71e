import { describe, expect, test } from 'vitest';
import {
  buildDocument,
  listFacts,
  listSubfields,
  readTestOperation,
} from '../../testing/read-test-document.ts';
import { buildCodeSamples } from './code-samples.ts';

describe('bodies and responses', () => {
  test('an example is generated from the schema when the document has none, and is marked as generated', () => {
    const schema = {
      required: ['name', 'id'],
      properties: {
        id: { type: 'string', readOnly: true },
        name: { type: 'string', minLength: 8 },
        secret: { type: 'string', writeOnly: true },
        size: { type: 'integer', minimum: 3 },
        at: { type: 'string', format: 'date-time' },
        kind: { enum: ['a', 'b'] },
        parent: { $ref: '#/components/schemas/T' },
        list: { type: 'array', items: { type: 'boolean' } },
        either: { oneOf: [{ type: 'null' }, { type: 'number', exclusiveMinimum: 0 }] },
        map: { type: 'object', additionalProperties: { default: 4 } },
      },
    };
    const json = { 'application/json': { schema: { $ref: '#/components/schemas/T' } } };
    const { body, responses } = readTestOperation(
      buildDocument(
        { requestBody: { content: json }, responses: { 200: { description: '', content: json } } },
        { components: { schemas: { T: schema } } },
      ),
    );
    expect(body?.contents[0]?.value).toEqual({ name: expect.stringMatching(/^.{8}$/) });
    expect(responses[0]?.contents[0]?.value).toEqual({
      id: 'string',
      name: expect.stringMatching(/^.{8}$/),
      size: 3,
      at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
      kind: 'a',
      list: [true],
      either: 1,
      map: { name: 4 },
    });
  });

  test('every media type and every status is read, patterns too', () => {
    const { responses } = readTestOperation(
      buildDocument({
        responses: {
          200: {
            content: {
              'application/json': { schema: {} },
              'text/csv': { schema: { type: 'string' } },
              'image/*': null,
            },
          },
          '4XX': { description: 'Wrong.' },
          default: 'odd',
          'x-note': 'kept',
        },
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(['200', '4XX', 'default']);
    expect(responses[0]?.contents.map(({ mediaType, field }) => [mediaType, field.id])).toEqual([
      ['application/json', 'post-things-id.200.body'],
      ['text/csv', 'post-things-id.200.body.text/csv'],
      ['image/*', 'post-things-id.200.body.image/*'],
    ]);
    expect(responses[0]?.contents[2]?.blocks[0]?.text).toBe('null');
    expect(responses[2]?.blocks[0]?.text).toBe('"odd"');
  });

  test('security, servers and unknown members are read', () => {
    const { security, servers, blocks, deprecated } = readTestOperation(
      buildDocument(
        {
          deprecated: true,
          security: [{ key: [], token: ['read'] }, {}],
          'x-codes': [1],
          servers: [
            {
              url: 'https://{region}.example.org/',
              variables: { region: { default: 'eu', description: 'Where.' } },
            },
          ],
        },
        {
          components: {
            securitySchemes: {
              key: { type: 'apiKey', in: 'header', name: 'X-Key' },
              token: { type: 'oauth2', flows: {} },
            },
          },
        },
      ),
    );
    expect(deprecated).toBe(true);
    expect(security.map((keys) => keys.map(({ label, scopes }) => `${label} ${scopes}`))).toEqual([
      ['key in the header X-Key ', 'OAuth 2 token read'],
      [],
    ]);
    expect(servers[0]?.url).toBe('https://eu.example.org/');
    expect(servers[0]?.blocks[0]?.text).toContain('Where.');
    expect(blocks[0]?.text).toContain('"x-codes"');
  });
});

describe('callbacks and links', () => {
  const done = {
    '{$request.body#/url}': {
      parameters: [{ name: 'try', in: 'query', schema: { type: 'integer' } }],
      post: {
        summary: 'It is done.',
        requestBody: { $ref: '#/components/requestBodies/Done' },
        responses: { '2XX': { description: 'Thanks.' } },
      },
    },
  };
  const components = {
    callbacks: { Done: done },
    requestBodies: {
      Done: { content: { 'application/json': { schema: { $ref: '#/components/schemas/D' } } } },
    },
    schemas: { D: { properties: { at: { type: 'string', format: 'date' } } } },
    links: {
      Get: { operationId: 'getThing', parameters: { id: '$response.body#/id', n: 1 }, server: { url: '/' } },
    },
  };

  test('callbacks show the requests and expected responses of the API, through references', () => {
    const { callbacks } = readTestOperation(
      buildDocument(
        { callbacks: { done: { $ref: '#/components/callbacks/Done' }, odd: 7, gone: { $ref: '#/no' } } },
        { components },
      ),
    );
    const [first, odd, gone] = callbacks;
    expect(first).toMatchObject({
      name: 'done',
      method: 'POST',
      address: '{$request.body#/url}',
      description: 'It is done.',
      parameters: [{ name: 'try' }],
      responses: [{ status: '2XX', description: 'Thanks.' }],
    });
    expect(listSubfields(first?.body?.contents[0]?.field).map(({ name, type }) => [name, type])).toEqual([
      ['at', 'string (date)'],
    ]);
    expect(odd?.blocks[0]?.text).toBe('7');
    expect(gone?.faults[0]).toContain('#/no');
  });

  test('links name the operation and the sources of its parameters', () => {
    const { responses } = readTestOperation(
      buildDocument(
        { responses: { 200: { links: { one: { $ref: '#/components/links/Get' }, odd: 7 } } } },
        { components },
      ),
    );
    const [one, odd] = responses[0]?.links ?? [];
    expect(listFacts(one)).toEqual(['Operation: getThing', 'Parameters: id = $response.body#/id, n = 1']);
    expect(one?.blocks[0]?.text).toContain('"server"');
    expect(odd?.blocks[0]?.text).toBe('7');
  });
});

describe('code samples', () => {
  const codes = (operation: object, rest: object = {}) =>
    Object.fromEntries(
      buildCodeSamples(readTestOperation(buildDocument(operation, rest)), {
        baseUrl: 'http://localhost:1/',
      }).map(({ label, code }) => [label, code]),
    );
  const bearer = {
    security: [{ t: [] }],
    components: { securitySchemes: { t: { type: 'http', scheme: 'bearer' } } },
  };

  test('name the token, fill the path, and write JSON in the syntax of the language', () => {
    const { curl, Python, JavaScript } = codes(
      {
        parameters: [
          { name: 'id', in: 'path', schema: { type: 'string' } },
          { name: 'q', in: 'query', required: true, example: 'a b&c' },
          { name: 'optional', in: 'query' },
        ],
        requestBody: { content: { 'application/json': { example: { "it's": true, n: null, list: [] } } } },
      },
      bearer,
    );
    expect(curl).toBe(
      `curl -X POST 'http://localhost:1/things/ID?q=a%20b%26c' \\\n  -H "Authorization: Bearer $API_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{\n  "it'\\''s": true,\n  "n": null,\n  "list": []\n}'`,
    );
    expect(Python).toContain('"Authorization": "Bearer " + os.environ["API_TOKEN"]');
    expect(Python).toContain(
      'json={\n        "it\'s": True,\n        "n": None,\n        "list": [],\n    }',
    );
    expect(JavaScript).toMatch(/Authorization": `Bearer \$\{process\.env\.API_TOKEN\}`/);
    expect(JavaScript).toContain('body: JSON.stringify({');
  });

  test.for([
    ['application/x-www-form-urlencoded', "--data-urlencode 'a=1'", 'data={', 'new URLSearchParams'],
    ['multipart/form-data', "-F 'a=1'", 'files={', 'new FormData()'],
    ['application/gzip', '--data-binary @FILE', 'open("FILE", "rb")', 'openAsBlob("FILE")'],
  ] as const)('a body of %s', ([type, shell, python, js]) => {
    const schema = { properties: { a: { type: 'integer', default: 1 } } };
    const { curl, Python, JavaScript } = codes({ requestBody: { content: { [type]: { schema } } } });
    expect(curl).toContain(shell);
    expect(Python).toContain(python);
    expect(JavaScript).toContain(js);
  });
});
