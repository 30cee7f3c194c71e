import { describe, expect, test } from 'vitest';
import {
  buildDocument,
  buildJsonBody,
  listFacts,
  listSubfields,
  readBodyField,
} from '../../testing/read-test-document.ts';
import { readOperation } from '../operation/read-operation.ts';
import { createPageState, type Field } from './field.ts';

const child = (field: Field, name: string) => listSubfields(field).find((one) => one.name === name);

describe('types', () => {
  test.for([
    [{}, 'any'],
    [true, 'any'],
    [{ type: 'string', format: 'date-time' }, 'string (date-time)'],
    [{ type: 'array', items: { type: 'array', items: { type: 'integer' } } }, 'array of array of integer'],
    [{ type: 'array' }, 'array'],
    [{ properties: {} }, 'object'],
    [{ items: { type: 'string' } }, 'array of string'],
    [{ enum: ['a', 1, null] }, 'string or number or null'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'string or number'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'any'],
    [{ allOf: [{ description: 'x' }, { type: 'integer' }] }, 'integer'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [
      { type: 'array', items: { $ref: '#/components/schemas/Loop' } },
      'array of array of array of array of array of array',
    ],
  ] as const)('%o is %s', ([schema, type]) => {
    const loop = { type: 'array', items: { $ref: '#/components/schemas/Loop' } };
    expect(readBodyField(schema, { Loop: loop }).type).toBe(type);
  });
});

describe('facts', () => {
  test.for([
    [{ minLength: 3, maxLength: 48 }, 'Limits: 3 to 48 characters'],
    [{ maxLength: 1 }, 'Limits: at most 1 character'],
    [{ minimum: 0, exclusiveMinimum: true, maximum: 9 }, 'Limits: at most 9, more than 0'],
    [{ exclusiveMinimum: 0, exclusiveMaximum: 2.5 }, 'Limits: more than 0, less than 2.5'],
    [{ minItems: 2, maxItems: 2, uniqueItems: true }, 'Limits: exactly 2 items, no item twice'],
    [{ multipleOf: 5 }, 'Limits: a multiple of 5'],
    [{ pattern: '^a$' }, 'Pattern: ^a$'],
    [{ maxLength: 9, pattern: '^[^\\u0000]*$' }, 'Limits: at most 9 characters, no NUL character'],
    [{ enum: ['a', null] }, 'One of: "a", null'],
    [{ enum: ['a'] }, 'Always: "a"'],
    [{ default: false }, 'Default: false'],
    [{ default: null }, 'Default: null'],
    [{ example: { a: 1 } }, 'Example: {"a":1}'],
    [{ additionalProperties: false }, 'Other fields: none are allowed'],
    [
      { discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat' } } },
      'Discriminator: kind, cat → Cat',
    ],
    [{ externalDocs: { url: 'https://example.org' } }, 'More: https://example.org'],
  ] as const)('%o reads as "%s"', ([schema, fact]) => {
    const field = readBodyField(schema);
    expect(listFacts(field)).toEqual([fact]);
    expect(field.blocks).toEqual([]);
  });

  test.for([
    { minLength: '3' },
    { enum: 'a' },
    { required: true },
    { properties: ['a'] },
    { oneOf: {} },
    { 'x-internal': { a: 1 } },
    { xml: { name: 'x' } },
    { externalDocs: { url: 'javascript:alert(1)' } },
    { discriminator: 'kind' },
    { discriminator: { propertyName: 7 } },
    { description: 7 },
    { type: 'string', nullable: 'yes' },
  ])('a malformed or unknown member is shown as JSON: %o', (schema) => {
    const [key = '', value] = Object.entries(schema).at(-1) ?? [];
    const text = readBodyField(schema)
      .blocks.map(({ text }) => text)
      .join();
    expect(text.replace(/\s/g, '')).toContain(JSON.stringify(value));
    expect(text === JSON.stringify(value, null, 2) || text.includes(key) || key === 'externalDocs').toBe(
      true,
    );
  });

  test.for([null, 7, 'string', [], [{}]])('a schema that is %o is shown as JSON', (schema) => {
    expect(readBodyField(schema).blocks).toEqual([
      { title: 'Schema', text: JSON.stringify(schema, null, 2) },
    ]);
  });
});

describe('fields', () => {
  test('carry required, nullable, read-only, write-only and deprecated', () => {
    const field = readBodyField({
      required: ['a', 'gone'],
      properties: {
        a: { type: 'string', nullable: true, readOnly: true, deprecated: true },
        b: { type: 'string', writeOnly: true },
      },
    });
    expect(child(field, 'a')).toMatchObject({
      required: true,
      nullable: true,
      readOnly: true,
      deprecated: true,
    });
    expect(child(field, 'b')).toMatchObject({ required: false, writeOnly: true });
    expect(child(field, 'gone')).toMatchObject({ required: true, type: 'any' });
  });

  test('of allOf are one list, and a requirement of one part holds for the field of another', () => {
    const field = readBodyField(
      {
        allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { a: { maxLength: 9 }, c: {} } }],
        required: ['a'],
      },
      {
        Base: {
          type: 'object',
          description: 'The base.',
          properties: { a: { type: 'string', minLength: 1 }, b: {} },
        },
      },
    );
    expect(listSubfields(field).map(({ name, required }) => [name, required])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ]);
    expect(listFacts(child(field, 'a'))).toEqual([
      'Limits: at least 1 character',
      'Limits: at most 9 characters',
    ]);
    expect(field.description).toBe('The base.');
  });

  test('of items are shown below the array when the items have no other statement', () => {
    const field = readBodyField({ type: 'array', items: { type: 'object', properties: { a: {} } } });
    expect([field.type, listSubfields(field).map(({ name, id }) => [name, id])]).toEqual([
      'array of object',
      [['a', 'post-things-id.body[].a']],
    ]);
    const described = readBodyField({ type: 'array', items: { type: 'string', description: 'A name.' } });
    expect(listSubfields(described).map(({ name, description }) => [name, description])).toEqual([
      ['each item', 'A name.'],
    ]);
  });

  test('of any other name have a schema', () => {
    const field = readBodyField({
      properties: { a: {} },
      additionalProperties: { type: 'string', maxLength: 3 },
    });
    expect(listSubfields(field).map(({ name, type, synthetic }) => [name, type, synthetic])).toEqual([
      ['a', 'any', false],
      ['any other name', 'string', true],
    ]);
  });

  test('of variants are named by title, by schema or by number; variants that only have a type are left out', () => {
    const field = readBodyField(
      {
        oneOf: [
          { title: 'By name', properties: { a: {} } },
          { $ref: '#/components/schemas/B' },
          { properties: { c: {} } },
        ],
      },
      { B: { properties: { b: {} } } },
    );
    expect(listSubfields(field).map(({ name }) => name)).toEqual(['By name', 'B', 'variant 3']);
    expect(readBodyField({ anyOf: [{ type: 'string' }, { type: 'number' }] }).groups).toEqual([]);
  });
});

describe('inheritance by allOf', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schemas = {
    Event: {
      properties: { kind: { type: 'string' } },
      discriminator: { propertyName: 'kind', mapping: { paid: ref('Paid').$ref, sent: 'Sent' } },
    },
    Paid: { allOf: [ref('Event'), { properties: { amount: { type: 'integer' } } }] },
    Sent: { allOf: [ref('Event'), { properties: { address: ref('Event') } }] },
    Shape: { properties: { kind: {} }, discriminator: { propertyName: 'kind' } },
    Circle: { allOf: [ref('Shape'), { properties: { radius: { type: 'number' } } }] },
  };

  test.for([
    ['Event', ['Paid', 'Sent'], 'amount'],
    ['Shape', ['Circle'], 'radius'],
  ] as const)('lists the schemas that extend %s as variants', ([name, names, own]) => {
    const field = readBodyField(ref(name), schemas);
    const variants = field.groups.find(({ kind }) => kind === 'variants')?.fields ?? [];
    expect(variants.map((variant) => variant.name)).toEqual(names);
    expect(child(variants[0] ?? field, own)).toBeDefined();
    expect(variants[0]?.groups.filter(({ kind }) => kind === 'variants')).toEqual([]);
  });

  test('no schema extends one without a name', () => {
    const field = readBodyField(
      { properties: { kind: {} }, discriminator: { propertyName: 'kind' } },
      schemas,
    );
    expect(field.groups.map(({ kind }) => kind)).toEqual(['properties']);
  });
});

test('members beside a reference add to the referenced schema and hide none of its members', () => {
  const field = readBodyField(
    { $ref: '#/components/schemas/A', required: ['b'], properties: { b: { type: 'string' } } },
    { A: { required: ['a'], properties: { a: { type: 'integer' } } } },
  );
  expect(
    listSubfields(field)
      .map(({ name, required }) => [name, required])
      .toSorted(),
  ).toEqual([
    ['a', true],
    ['b', true],
  ]);
});

test('a schema that many parts join is read once, and twenty levels of such pairs take no time', () => {
  const pairs = Array.from({ length: 20 }, (_, level) => {
    const next = { $ref: `#/components/schemas/Level${level + 1}` };
    return [`Level${level}`, { allOf: [next, next], properties: { [`p${level}`]: {} } }];
  });
  const schemas = { ...Object.fromEntries(pairs), Level20: { description: 'The last.' } };
  const field = readBodyField({ $ref: '#/components/schemas/Level0' }, schemas);
  expect([field.description, listSubfields(field).length]).toEqual(['The last.', 20]);
});

describe('circles', () => {
  const schemas = {
    Node: {
      properties: {
        next: { $ref: '#/components/schemas/Node' },
        all: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      },
    },
    Pair: {
      properties: {
        left: { $ref: '#/components/schemas/Leaf' },
        right: { $ref: '#/components/schemas/Leaf' },
      },
    },
    Leaf: { properties: { a: {} } },
    Self: { allOf: [{ $ref: '#/components/schemas/Self' }, { properties: { a: {} } }] },
  };

  test('end with a link to the place where they begin', () => {
    const field = readBodyField({ $ref: '#/components/schemas/Node' }, schemas);
    expect(child(field, 'next')?.unfoldedAt).toEqual({
      place: { id: field.id, label: 'Node' },
      recursive: true,
    });
    expect(child(field, 'next')?.groups).toEqual([]);
    expect(listSubfields(child(field, 'all'))[0]?.unfoldedAt?.recursive).toBe(true);
  });

  test('a schema used twice is unfolded once, without a circle', () => {
    const field = readBodyField({ $ref: '#/components/schemas/Pair' }, schemas);
    expect(listSubfields(child(field, 'left')).map(({ name }) => name)).toEqual(['a']);
    expect(child(field, 'right')?.unfoldedAt).toEqual({
      place: { id: `${field.id}.left`, label: 'left' },
      recursive: false,
    });
  });

  test('a link leads to the array when the level of its items is removed', () => {
    const field = readBodyField(
      {
        properties: {
          list: { type: 'array', items: { $ref: '#/components/schemas/Leaf' } },
          one: { properties: { deep: { $ref: '#/components/schemas/Leaf' } } },
        },
      },
      schemas,
    );
    const deep = listSubfields(child(field, 'one'))[0];
    expect(deep?.unfoldedAt?.place.id).toBe(`${field.id}.list`);
  });

  test('a schema that contains itself by allOf has a fault and its other fields', () => {
    const field = readBodyField({ $ref: '#/components/schemas/Self' }, schemas);
    expect(field.faults.join()).toContain('contains itself by allOf');
    expect(listSubfields(field).map(({ name }) => name)).toEqual(['a']);
  });

  test('schemas nested too deep and too many fields end with a sentence', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 60; level += 1) deep = { type: 'object', properties: { a: deep } };
    expect(JSON.stringify(readBodyField(deep))).toContain('nested more than 24 deep');
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`f${index}`, { properties: { a: {} } }]),
    );
    const operation = readOperation(
      buildDocument(buildJsonBody({ properties: many })),
      'post',
      '/things/{id}',
      {
        maxFields: 40,
      },
    );
    expect(JSON.stringify(operation)).toContain('has too many to show them all here');
  });

  test('operations of one page have anchors of their own and share unfolded schemas', () => {
    const responses = { 404: { $ref: '#/components/responses/Gone' } };
    const document = buildDocument(
      { summary: 'Find', ...buildJsonBody({ $ref: '#/components/schemas/Leaf' }), responses },
      { components: { schemas, responses: { Gone: { description: 'Gone.' } } } },
    );
    const page = createPageState();
    const [one, two] = [1, 2].map(() => readOperation(document, 'post', '/things/{id}', { page }));
    expect(two?.responses[0]?.unfoldedAt).toEqual({ id: 'post-things-id.404', label: '404 of “Find”' });
    expect([one?.id, two?.id]).toEqual(['post-things-id', 'post-things-id-2']);
    expect(two?.body?.contents[0]?.field.unfoldedAt?.place.id).toBe(one?.body?.contents[0]?.field.id);
  });
});
