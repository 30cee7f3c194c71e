import { describe, expect, test } from 'vitest';
import {
  buildDocument,
  buildJsonBody,
  listFacts,
  listSubfields,
  readBodyField,
  readTestOperation,
} from '../../testing/read-test-document.ts';
import { listOperations, readOperation } from './read-operation.ts';

describe('operations of a document', () => {
  const document = {
    paths: {
      '/a': { get: { operationId: 'listAll', tags: ['x'], summary: 'List' }, $ref: '#/shared' },
      '/b': { $ref: '#/shared' },
      '/c': 7,
    },
    shared: { patch: { tags: ['x', 'y'] }, parameters: [], options: {} },
  };

  test('are listed by path and method, through references to path items', () => {
    expect(listOperations(document).map(({ method, path, id }) => `${method} ${path} ${id}`)).toEqual([
      'get /a list-all',
      'options /a options-a',
      'patch /a patch-a',
      'options /b options-b',
      'patch /b patch-b',
    ]);
    expect(listOperations(document, 'y').map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  test.for([
    ['constructor', '/a'],
    ['get', '/nowhere'],
    ['get', 'toString'],
    ['summary', '/a'],
    ['post', '/a'],
  ] as const)('do not include %s %s', ([method, path]) => {
    expect(readOperation(document, method, path)).toBeUndefined();
  });

  test.for([undefined, null, 7, 'x', [], {}, { paths: [] }, { paths: { '/a': null } }])(
    'are none in %o',
    (odd) => {
      expect(listOperations(odd)).toEqual([]);
      expect(readOperation(odd, 'get', '/a')).toBeUndefined();
    },
  );
});

describe('references', () => {
  const odd = {
    'a/b': { type: 'boolean' },
    'a~b': { type: 'integer' },
    'a b%': { type: 'null' },
    é: { type: 'number' },
  };

  test.for([
    ['#/components/schemas/a~1b', 'boolean'],
    ['#/components/schemas/a~0b', 'integer'],
    ['#/components/schemas/a%20b%25', 'null'],
    ['#/components/schemas/a b%', 'null'],
    ['#/components/schemas/%C3%A9', 'number'],
    ['#/paths/~1things~1%7Bid%7D/post/x-kept', 'string'],
  ] as const)('%s is of the type %s', ([ref, type]) => {
    const document = buildDocument(
      { ...buildJsonBody({ $ref: ref }), 'x-kept': { type: 'string' } },
      { components: { schemas: odd } },
    );
    expect(readTestOperation(document).body?.contents[0]?.field.type).toBe(type);
  });

  test.for([
    ['#/components/schemas/Gone', 'leads to nothing in this document'],
    ['#/components/schemas/constructor', 'leads to nothing in this document'],
    ['other.json#/Thing', 'leads out of this document'],
    ['#/components/schemas/Circle', 'leads back to itself'],
  ] as const)('the reference %s %s, which is a fault', ([ref, message]) => {
    const field = readBodyField(
      { $ref: ref },
      { Circle: { $ref: '#/components/schemas/Ring' }, Ring: { $ref: '#/components/schemas/Circle' } },
    );
    expect(field.faults.join()).toContain(message);
  });

  test('a member beside a reference replaces that of the referenced schema', () => {
    const field = readBodyField(
      { $ref: '#/components/schemas/A', description: 'Mine.' },
      { A: { type: 'string', description: 'Its.' } },
    );
    expect([field.type, field.description, field.schema]).toEqual(['string', 'Mine.', 'A']);
  });

  test('a property named $ref is a property', () => {
    const field = readBodyField({ properties: { $ref: { type: 'string' } } });
    expect(listSubfields(field).map(({ name, type }) => [name, type])).toEqual([['$ref', 'string']]);
  });

  test('of parameters, bodies, responses, headers and examples are followed', () => {
    const { parameters, body, responses } = readTestOperation(
      buildDocument(
        {
          parameters: [{ $ref: '#/components/parameters/P' }],
          requestBody: { $ref: '#/components/requestBodies/B' },
          responses: {
            200: { $ref: '#/components/responses/R' },
            500: { $ref: '#/components/responses/Gone' },
          },
        },
        {
          components: {
            parameters: { P: { name: 'p', in: 'query', schema: { type: 'integer' } } },
            requestBodies: { B: { required: true, content: { 'text/plain': { example: 'hello' } } } },
            responses: {
              R: {
                description: 'Fine.',
                headers: { 'X-Rate': { $ref: '#/components/headers/H' } },
                content: { 'application/json': { examples: { one: { $ref: '#/components/examples/E' } } } },
              },
            },
            headers: { H: { description: 'How many.', schema: { type: 'integer' } } },
            examples: { E: { summary: 'The first', value: { n: 1 } } },
          },
        },
      ),
    );
    expect(parameters.map(({ in: place, name, field }) => [place, name, field.type])).toEqual([
      ['query', 'p', 'integer'],
    ]);
    expect([body?.required, body?.contents[0]?.examples[0]?.text]).toEqual([true, 'hello']);
    expect(responses[0]?.headers.map(({ name, type, description }) => [name, type, description])).toEqual([
      ['X-Rate', 'integer', 'How many.'],
    ]);
    expect(responses[0]?.contents[0]?.examples[0]).toMatchObject({
      title: 'The first',
      text: '{\n  "n": 1\n}',
    });
    expect(responses[1]?.faults.join()).toContain('leads to nothing');
  });
});

describe('parameters', () => {
  test('of the operation replace those of its path with the same name and location', () => {
    const document = {
      paths: {
        '/things/{id}': {
          parameters: [
            { name: 'id', in: 'path', schema: { type: 'string' } },
            { name: 'q', in: 'query', schema: { type: 'string' } },
            { name: 'q', in: 'header', schema: { type: 'string' } },
          ],
          post: { parameters: [{ name: 'q', in: 'query', required: true, schema: { type: 'integer' } }] },
        },
      },
    };
    const found = readTestOperation(document).parameters.map(({ in: place, name, field }) => [
      place,
      name,
      field.type,
      field.required,
    ]);
    expect(found).toEqual([
      ['path', 'id', 'string', true],
      ['query', 'q', 'integer', true],
      ['header', 'q', 'string', false],
    ]);
  });

  test('that cannot be read are shown as JSON', () => {
    const { parameters } = readTestOperation(
      buildDocument({
        parameters: [
          7,
          { in: 'query', description: 'No name.' },
          { name: 'b', in: 'body', schema: {} },
          { $ref: '#/no' },
        ],
      }),
    );
    expect(parameters.map(({ in: place }) => place)).toEqual(['other', 'query', 'other', 'other']);
    expect(parameters[0]?.field.blocks[0]?.text).toBe('7');
    expect(parameters[1]?.field.description).toBe('No name.');
    expect(parameters[2]?.field.blocks[0]?.text).toContain('"in": "body"');
    expect(parameters[3]?.field.faults[0]).toContain('#/no');
  });

  test('have examples with their descriptions, of content too', () => {
    const examples = {
      one: { summary: 'The first', description: 'Said of it.', value: 'a' },
      two: { value: 'b\nc' },
      out: { externalValue: 'https://example.org/e' },
    };
    const { parameters } = readTestOperation(
      buildDocument({
        parameters: [
          { name: 'a', in: 'query', schema: { description: 'Same.' }, description: 'Same.', examples },
          { name: 'b', in: 'query', content: { 'application/json': { examples } } },
        ],
      }),
    );
    for (const { field } of parameters) {
      expect(listFacts(field)).toEqual(
        expect.arrayContaining(['Example The first: "a"', 'The first: Said of it.']),
      );
      expect(field.blocks).toContainEqual({ title: 'Example two', text: 'b\nc' });
      expect(JSON.stringify([field.facts, field.blocks])).toContain('https://example.org/e');
    }
    expect(parameters[0]?.field.description).toBe('Same.');
  });

  test('name the style of their value where it is not the default', () => {
    const { parameters } = readTestOperation(
      buildDocument({
        parameters: [
          { name: 'a', in: 'query', style: 'form', explode: true, schema: {} },
          { name: 'b', in: 'query', style: 'pipeDelimited', explode: false, schema: {} },
          { name: 'c', in: 'query', explode: false, schema: {} },
          { name: 'd', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        ],
      }),
    );
    expect(parameters.map(({ field }) => listFacts(field))).toEqual([
      [],
      ['Style: pipeDelimited'],
      ['Lists: values in one parameter'],
      ['Written as: application/json'],
    ]);
  });
});
