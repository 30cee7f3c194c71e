/** Every integer of a request has bounds that JSON carries exactly and both databases read back. */
import type { TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../operation.ts';
import { operations } from '../operations.ts';
import { isRecord } from '../schemas/is-record.ts';

/** Returns the paths of the integers without such bounds; of all numbers with `isStrict`. */
function listUnbounded(schema: unknown, path: string, isStrict: boolean): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => listUnbounded(one, path, isStrict));
  if (!isRecord(schema)) return [];
  const { type, minimum, maximum, properties, items, additionalProperties, anyOf } = schema;
  const isBounded = Number.isSafeInteger(maximum) && Number(minimum) >= Number.MIN_SAFE_INTEGER;
  const isChecked = type === 'integer' || (isStrict && type === 'number');
  return [
    ...(isChecked && !isBounded ? [path] : []),
    ...Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, one]) =>
      listUnbounded(one, `${path}.${name}`, isStrict),
    ),
    ...[items, additionalProperties, anyOf].flatMap((one) => listUnbounded(one, `${path}[]`, isStrict)),
  ];
}

/** Numbers of the worker protocol that are measurements of an app, and are stored as JSON. */
const MEASUREMENTS = /points|phases\[\]\.x|solves\[\]\.|start_conditions\.load/;

describe('A1: every integer of a request has bounds', () => {
  const declared: Operation[] = Object.values(operations);
  test.each(declared.filter(({ body, query }) => body || query))('$id', ({ body, query, right }) => {
    const schemas: (TSchema | undefined)[] = [body?.schema, query];
    const unbounded = schemas.flatMap((schema) => listUnbounded(schema, '', right === 'work'));
    expect(unbounded.filter((path) => !MEASUREMENTS.test(path))).toEqual([]);
  });
});
