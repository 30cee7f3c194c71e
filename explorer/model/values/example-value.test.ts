import { describe, expect, test } from 'vitest';
import { ResolvedDocument } from '../document/resolved-document.ts';
import { buildExampleValue } from './example-value.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const Base = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string' }, name: { type: 'string' } },
};
const schemas = {
  Base,
  Cat: { allOf: [ref('Base'), { properties: { meow: { type: 'boolean' } } }] },
  Dog: { allOf: [ref('Base'), { properties: { bark: { type: 'integer' } } }] },
  Pet: {
    oneOf: [ref('Dog'), ref('Cat')],
    discriminator: { propertyName: 'kind', mapping: { hound: ref('Dog').$ref } },
  },
  Shape: { ...Base, discriminator: { propertyName: 'kind' } },
  Circle: { allOf: [ref('Shape'), { properties: { radius: { type: 'number' } } }] },
  Node: {
    properties: {
      next: { allOf: [ref('Node'), { description: 'The next.' }] },
      all: { type: 'array', items: ref('Node') },
      map: { additionalProperties: ref('Node') },
      other: ref('Ring'),
    },
  },
  Ring: { properties: { node: ref('Node'), size: { type: 'integer' } } },
  Tree: { oneOf: [ref('Branch'), { type: 'string' }] },
  Branch: { type: 'object', properties: { left: ref('Tree'), right: ref('Tree') } },
};
const build = (schema: unknown, direction: 'request' | 'response' = 'response') =>
  buildExampleValue(new ResolvedDocument({ components: { schemas } }), schema, direction);

describe('an example value', () => {
  test.for([
    [{}, {}],
    [true, {}],
    [{ nullable: true }, null],
    [{ type: 'object' }, {}],
    [{ type: 'array', items: {} }, [{}]],
    [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [true, true]],
    [{ type: 'array', minItems: 2, uniqueItems: true, items: { enum: ['a', 'b', 'c'] } }, ['a', 'b']],
    [{ enum: [null, 'a'] }, 'a'],
    [{ enum: [null] }, null],
    [{ default: false, type: 'boolean' }, false],
    [{ default: 0, type: 'integer' }, 0],
    [{ default: '', type: 'string' }, ''],
    [{ default: {}, properties: { a: { type: 'integer' } } }, { a: 1 }],
    [{ default: [], type: 'array', items: { type: 'integer' } }, [1]],
    [{ example: 'x', default: 'y', enum: ['z'] }, 'x'],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
    [{ type: 'integer', minimum: 5, exclusiveMinimum: true, multipleOf: 5 }, 10],
    [{ type: 'integer', maximum: -2 }, -2],
    [{ type: 'integer', maximum: 0, exclusiveMaximum: true }, -1],
    [{ type: 'number', minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true }, 0.5],
    [{ type: 'number', exclusiveMinimum: 2 }, 3],
    [{ type: 'string', maxLength: 3 }, 'str'],
    [{ type: 'string', maxLength: 0 }, ''],
    [{ type: 'string', minLength: 9, maxLength: 9 }, expect.stringMatching(/^.{9}$/)],
    [{ type: 'string', format: 'constructor' }, 'string'],
    [{ oneOf: [{ type: 'null' }, { type: 'integer' }] }, 1],
    [{ additionalProperties: { type: 'integer' } }, { name: 1 }],
    [{ required: ['a'], additionalProperties: { type: 'integer' } }, { a: 1 }],
    [
      { required: ['b'], properties: { a: { type: 'integer' } } },
      { a: 1, b: {} },
    ],
  ])('of %o is %o', ([schema, value]) => {
    expect(build(schema)).toEqual(value);
  });

  // The syntax of each format, from RFC 3339, RFC 9562, RFC 5321 and RFC 4291.
  test.for([
    ['date', /^\d{4}-\d{2}-\d{2}$/],
    ['date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/],
    ['uuid', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/],
    ['email', /^[^@]+@[^@]+$/],
    ['ipv6', /^[\da-f:]+$/],
    ['uri', /^https?:\/\/\S+$/],
  ] as const)('of the format %s has its syntax', ([format, syntax]) => {
    expect(build({ type: 'string', format, minLength: 99 })).toMatch(syntax);
  });

  test('of schemas that all refer to each other ends, with at most 400 values', () => {
    const names = Array.from({ length: 12 }, (_, index) => `S${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, ref(name)]));
    const document = {
      components: { schemas: Object.fromEntries(names.map((name) => [name, { properties }])) },
    };
    const value = buildExampleValue(new ResolvedDocument(document), ref('S0'), 'response');
    expect(JSON.stringify(value).match(/"S\d+"/g)?.length).toBeLessThanOrEqual(400);
  });

  test('of several schemas takes from each, and from every list of variants', () => {
    expect(
      build({
        allOf: [
          { example: { a: 7 }, properties: { a: { type: 'integer' } } },
          { properties: { b: { type: 'boolean' } } },
          { oneOf: [{ properties: { c: { type: 'integer' } } }, { properties: { x: {} } }] },
          { anyOf: [{ properties: { d: { enum: ['d'] } } }] },
        ],
      }),
    ).toEqual({ a: 7, b: true, c: 1, d: 'd' });
  });

  test('of a request has the fields that a variant requires, and none that is read-only', () => {
    const schema = {
      required: ['a'],
      properties: {
        a: { type: 'integer' },
        b: { type: 'integer' },
        c: { type: 'integer' },
        id: { readOnly: true },
      },
      anyOf: [{ required: ['b', 'id'] }, { required: ['c'] }],
    };
    expect(build(schema, 'request')).toEqual({ a: 1, b: 1 });
  });

  test('has the value of the discriminator for its variant', () => {
    expect(build(ref('Pet'))).toEqual({ kind: 'hound', name: 'string', bark: 1 });
    expect(build({ ...schemas.Pet, oneOf: [ref('Cat')] })).toEqual({
      kind: 'Cat',
      name: 'string',
      meow: true,
    });
    expect(build(ref('Shape'))).toEqual({ kind: 'Circle', name: 'string', radius: 1 });
  });

  test('ends in circles through variants, lists, maps and references with a description', () => {
    expect(build(ref('Node'))).toEqual({ all: [], map: {}, other: { size: 1 } });
    expect(build(ref('Tree'))).toEqual({ left: 'string', right: 'string' });
  });
});
