/** The documents match the code, are valid and complete, and their examples conform to their schemas. */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv, type AnySchema } from 'ajv';
import addFormats from 'ajv-formats';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { listErrorStatuses, type Operation } from '../operation.ts';
import { operations } from '../operations.ts';
import { hasRight } from '../roles.ts';
import { nullable } from '../schemas/field-schemas.ts';
import { ComponentSchemas, type Json, type JsonObject } from './component-schemas.ts';
import { buildDocument, DOCUMENT_NAMES, documentUrl, renderDocument } from './documents.ts';
import { MARKETPLACE_OPERATIONS } from './marketplace.ts';

const document = buildDocument('cloud');
const declarations: [string, Operation][] = Object.entries(operations);

function at(from: Json | undefined, ...keys: string[]): Json | undefined {
  let value = from;
  for (const key of keys) {
    value = typeof value === 'object' && value !== null && !Array.isArray(value) ? value[key] : undefined;
  }
  return value;
}

function entries(value: Json | undefined): [string, Json][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function pointer(...keys: string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns every content of the document, with the keys of its path and its media type. */
function contents(): { where: string; keys: string[]; type: string; content: Json }[] {
  const holders: string[][] = [];
  for (const [path, methods] of entries(document.paths)) {
    for (const [method, declared] of entries(methods)) {
      holders.push(['paths', path, method, 'requestBody']);
      for (const [status] of entries(at(declared, 'responses'))) {
        holders.push(['paths', path, method, 'responses', status]);
      }
    }
  }
  for (const [name] of entries(at(document, 'components', 'responses'))) {
    holders.push(['components', 'responses', name]);
  }
  return holders.flatMap((keys) =>
    entries(at(document, ...keys, 'content')).map(([type, content]) => ({
      where: `${keys.slice(1).join(' ')} ${type}`,
      keys: [...keys, 'content', type],
      type,
      content,
    })),
  );
}

describe.each(DOCUMENT_NAMES)('the checked-in document %s', (name) => {
  test('equals the document generated from the operations', () => {
    const checkedIn = readFileSync(documentUrl(name), 'utf8');
    expect(
      checkedIn === renderDocument(name),
      `contract/openapi/${name}.json differs from the operations: run \`node contract/openapi/documents.ts\` and commit it.`,
    ).toBe(true);
  });

  test('passes a strict linter', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // Operations without a token and without parameters have no error response.
      rules: { 'operation-4xx-response': 'off' },
    });
    const problems = await lintFromString({
      source: renderDocument(name),
      absoluteRef: documentUrl(name).pathname,
      config,
    });
    expect(problems.map((problem) => `${problem.location[0]?.pointer}: ${problem.message}`)).toEqual([]);
  });

  test(`is OpenAPI 3.0.3 of the ${name} API 1.7.0`, () => {
    expect(buildDocument(name)).toMatchObject({
      openapi: '3.0.3',
      info: { title: `${name} API`, version: '1.7.0' },
    });
  });
});

describe('the marketplace document', () => {
  test('lists its operations unchanged, and an operator has the rights for runs of a subscription', () => {
    const marketplace = buildDocument('marketplace');
    const ids = entries(marketplace.paths).flatMap(([path, methods]) =>
      entries(methods).map(([method, declared]) => {
        expect(declared).toEqual(at(document, 'paths', path, method));
        return at(declared, 'operationId');
      }),
    );
    expect(ids.sort()).toEqual([...MARKETPLACE_OPERATIONS].sort());
    for (const id of MARKETPLACE_OPERATIONS)
      if (operations[id].tag !== 'marketplace')
        expect(hasRight('operator', operations[id].right), id).toBe(true);
    for (const id of ['activateBinary', 'createVersion', 'updateInstance', 'getSecretsCollection'])
      expect(ids).not.toContain(id);
  });
});

describe('the whole document', () => {
  test('lists every operation once, with its path and method', () => {
    const ids = entries(document.paths).flatMap(([path, methods]) =>
      entries(methods).map(([method, declared]) => [at(declared, 'operationId'), `${method} ${path}`]),
    );
    const declared = declarations.map(([, { id, method, path }]) => [id, `${method.toLowerCase()} ${path}`]);
    expect(ids.sort()).toEqual(declared.sort());
  });
});

describe('examples', () => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document as AnySchema, 'cloud.json');

  const json = contents().filter(({ type }) => type === 'application/json');
  test.each(json)('$where', ({ keys, content }) => {
    const validate = ajv.compile({ $ref: `cloud.json#${pointer(...keys, 'schema')}` });
    const example = at(content, 'example');
    expect(example, 'give the body an example').toBeDefined();
    validate(example);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('a wrong example fails validation', () => {
    const keys = [
      'paths',
      '/v1/applications',
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    ];
    const validate = ajv.compile({ $ref: `cloud.json#${pointer(...keys)}` });
    expect(validate({ id: 'Routing', name: 'Vehicle routing' })).toBe(false);
    expect(validate({ id: 'routing', name: 'Vehicle routing', colour: 'red' })).toBe(false);
    expect(validate({ id: 'routing', name: 'Vehicle routing' })).toBe(true);
  });
});

describe('operations', () => {
  test.each(declarations)('%s is complete', (key, declared) => {
    expect(declared.id, 'the key in operations.ts equals the id').toBe(key);
    expect(declared.summary, 'a summary is a title without a full stop').toMatch(/^[A-Z].*[^.]$/);
    expect(declared.description, 'a description consists of sentences').toMatch(/^[A-Z`].*\.$/s);
    const placeholders = [...declared.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    expect(Object.keys(declared.params?.properties ?? {}), 'the parameters equal the placeholders').toEqual(
      placeholders,
    );
    expect(Object.keys(declared.responses).length, 'the operation declares a success').toBeGreaterThan(0);
    const parameters = {
      ...declared.params?.properties,
      ...declared.query?.properties,
      ...declared.headers?.properties,
    };
    for (const [name, schema] of Object.entries(parameters)) {
      expect(at(JSON.parse(JSON.stringify(schema)), 'description'), `${name} has a description`).toMatch(
        /\.$/,
      );
    }
  });

  test('text bodies have an example', () => {
    const bare = contents().filter(
      ({ type, content }) => type.startsWith('text/') && at(content, 'example') === undefined,
    );
    expect(bare).toEqual([]);
  });

  test('error statuses follow from rights and declarations', () => {
    expect(listErrorStatuses(operations.createRun)).toEqual([400, 401, 403, 404, 415, 429]);
    expect(listErrorStatuses(operations.getAccount)).toEqual([400, 401, 403, 429]);
    expect(listErrorStatuses(operations.putUpload)).toEqual([400, 403, 404, 429]);
    expect(listErrorStatuses(operations.appendUpload)).toEqual([400, 403, 404, 409, 429]);
    expect(listErrorStatuses(operations.getHealth)).toEqual([400]);
  });

  test('public operations declare no security', () => {
    expect(at(document, 'paths', '/healthz', 'get', 'security')).toEqual([]);
    expect(at(document, 'paths', '/v1/account', 'get', 'security')).toBeUndefined();
    expect(document.security).toEqual([{ bearer: [] }]);
  });
});

describe('schemas', () => {
  /** Returns the fields without a description. Items and map values need one only if they are objects. */
  function undescribed(schema: Json | undefined, where: string): string[] {
    if (at(schema, '$ref') !== undefined) return [];
    const own = at(schema, 'description') === undefined ? [where] : [];
    const fields = entries(at(schema, 'properties')).flatMap(([name, value]) =>
      undescribed(value, `${where}.${name}`),
    );
    const nested = ['items', 'additionalProperties'].flatMap((keyword) => {
      const inner = at(schema, keyword);
      return at(inner, 'properties') === undefined ? [] : undescribed(inner, `${where}.${keyword}`);
    });
    return [...own, ...fields, ...nested];
  }

  test.each(entries(at(document, 'components', 'schemas')))(
    'every field of %s has a description',
    (name, schema) => {
      expect(undescribed(schema, name)).toEqual([]);
    },
  );

  const named = Type.Object({ size: Type.Integer({ description: 'Size.' }) }, { $id: 'Box' });

  test('a named schema becomes a reference everywhere', () => {
    const components = new ComponentSchemas();
    const list = components.writeSchema(Type.Array(named), 'here');
    expect(list).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Box' } });
    expect(components.listSorted()).toEqual({
      Box: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer', description: 'Size.' } },
      },
    });
  });

  test('a nullable copy of a named schema has no name', () => {
    const components = new ComponentSchemas();
    const written = components.writeSchema(Type.Object({ a: nullable(named), b: named }), 'here');
    expect(at(written, 'properties', 'a')).toMatchObject({ type: 'object', nullable: true });
    expect(at(written, 'properties', 'b')).toEqual({ $ref: '#/components/schemas/Box' });
  });

  test('a field name may equal a keyword', () => {
    const written = new ComponentSchemas().writeSchema(
      Type.Object({ $id: Type.String(), const: Type.String(), properties: Type.String() }),
      'here',
    );
    expect(Object.keys(written.properties as JsonObject)).toEqual(['$id', 'const', 'properties']);
  });

  test.each([
    ['a literal', Type.Literal('a'), 'here uses const'],
    ['a record by pattern', Type.Record(Type.String(), Type.String()), 'here uses patternProperties'],
    ['a tuple', Type.Tuple([Type.String()]), 'here'],
    ['null', Type.Union([Type.Literal(1)]), 'here.anyOf[0] uses const'],
    [
      'a numeric exclusive bound',
      Type.Number({ exclusiveMinimum: 0 }),
      'exclusiveMinimum at here is not a boolean',
    ],
    ['a list of types', Type.Unsafe({ type: ['string', 'null'] }), 'here has a list of types'],
    ['null without a type', Type.Unsafe({ anyOf: [], nullable: true }), 'here is nullable without a type'],
    ['a name of two words', Type.String({ $id: 'two words' }), '$id at here is "two words"'],
    [
      'two schemas of one name',
      Type.Union([named, Type.String({ $id: 'Box' })]),
      'different schemas have the $id Box',
    ],
  ])('the generation refuses %s', (_, schema, words) => {
    expect(() => new ComponentSchemas().writeSchema(schema, 'here')).toThrow(words);
  });
});
