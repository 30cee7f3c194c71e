import { describe, expect, test } from 'vitest';
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
const made = (schema: unknown, direction: 'request' | 'response' = 'response') =>
  buildExampleValue({ components: { schemas } }, schema, direction);

describe('a sketch', () => {
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
    [{ type: 'string', format: 'uuid' }, '3b7f1f0e-5c1d-4a57-9d0e-2f6f6f0c8a11'],
    [{ oneOf: [{ type: 'null' }, { type: 'integer' }] }, 1],
    [{ additionalProperties: { type: 'integer' } }, { name: 1 }],
    [{ required: ['a'], additionalProperties: { type: 'integer' } }, { a: 1 }],
    [
      { required: ['b'], properties: { a: { type: 'integer' } } },
      { a: 1, b: {} },
    ],
  ] as const)('of %o is %o', ([schema, value]) => {
    expect(made(schema)).toEqual(value);
  });

  test('of several schemas takes from each, and from every list of variants', () => {
    expect(
      made({
        allOf: [
          { example: { a: 7 }, properties: { a: { type: 'integer' } } },
          { properties: { b: { type: 'boolean' } } },
          { oneOf: [{ properties: { c: { type: 'integer' } } }, { properties: { x: {} } }] },
          { anyOf: [{ properties: { d: { enum: ['d'] } } }] },
        ],
      }),
    ).toEqual({ a: 7, b: true, c: 1, d: 'd' });
  });

  test('of a request has what a variant requires too, and nothing that is only read', () => {
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
    expect(made(schema, 'request')).toEqual({ a: 1, b: 1 });
  });

  test('names the variant by what its discriminator calls it', () => {
    expect(made(ref('Pet'))).toEqual({ kind: 'hound', name: 'string', bark: 1 });
    expect(made({ ...schemas.Pet, oneOf: [ref('Cat')] })).toEqual({
      kind: 'Cat',
      name: 'string',
      meow: true,
    });
    expect(made(ref('Shape'))).toEqual({ kind: 'Circle', name: 'string', radius: 1 });
  });

  test('ends in circles, through variants, lists, maps and remarks beside a reference', () => {
    expect(made(ref('Node'))).toEqual({ all: [], map: {}, other: { size: 1 } });
    expect(made(ref('Tree'))).toEqual({ left: 'string', right: 'string' });
  });
});
