/** A column of JSON is a value of its schema, or an error that names its place. */
import Type from 'typebox';
import { expect, test } from 'vitest';
import { parseColumn } from './parse-column.ts';

const parseLabels = parseColumn(
  'runs',
  'id',
  'labels',
  Type.Object({
    name: Type.String({ maxLength: 3, pattern: '^a' }),
    repetition: Type.Optional(Type.Number()),
  }),
);

test('a value of the schema is returned, and null for null', () => {
  expect(parseLabels({ id: 'run-1', labels: '{"name": "ab", "repetition": 2}' })).toEqual({
    name: 'ab',
    repetition: 2,
  });
  expect(parseLabels({ id: 'run-1', labels: null })).toBeNull();
});

test('a value beyond present limits, and a field of a newer server, are accepted', () => {
  const value = { name: 'longer', added: true };
  expect(parseLabels({ id: 'run-1', labels: JSON.stringify(value) })).toEqual(value);
});

test.each([
  ['{"name": 1}', 'runs.labels of id run-1 does not fit its schema: /name must be string.'],
  ['["secret"]', 'runs.labels of id run-1 does not fit its schema: it must be object.'],
  ['{"secret', 'runs.labels of id run-1 is not JSON.'],
])('%s is an error of its row with its place and without its content', (labels, message) => {
  expect(() => parseLabels({ id: 'run-1', labels })).toThrow(new TypeError(message));
});
