/** The lines that `--select` prints for values of every type. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createOutput } from '../terminal/output.ts';
import { parseSelection } from './parse-selection.ts';

test.each([
  ['a', { a: 'x\u001b[31m\ty' }, 'x\ty\n'],
  ['a', { a: '' }, '\n'],
  ['a', { a: null }, ''],
  ['a', {}, ''],
  ['a', { a: [] }, ''],
  ['a', { a: [1, null, true, 'b'] }, '1\n\ntrue\nb\n'],
  ['a', { a: [['b', null, 2], { c: [1] }, [[1]]] }, 'b\t\t2\n{"c":[1]}\n[[1]]\n'],
  ['{b: a}', { a: 1 }, '{\n  "b": 1\n}\n'],
  // Fields that every object of JavaScript inherits.
  ['constructor', {}, ''],
  ['[0].toString', [{}], ''],
  ['constructor', { constructor: 'Arup' }, 'Arup\n'],
  ['a == b', { a: { c: 1 }, b: { c: 1 } }, 'true\n'],
])('%s of %j', (expression, value, printed) => {
  expect(parseSelection(expression)(JSON.stringify(value))).toBe(printed);
});

test('a value of a wrong type is an error of the expression', () => {
  expect(() => parseSelection('sort(@)')('{}')).toThrow('--select is "sort(@)"; it must be a JMESPath');
});

test('content that is not JSON is refused', () => {
  expect(() => parseSelection('a')('x,y')).toThrow(
    'The content is not JSON, from which --select could select.',
  );
});

test('gets the value without indentation, which could make it longer than a string can be', () => {
  const written: string[] = [];
  const out = { write: (text: string | Uint8Array) => written.push(String(text)) };
  const terminal = {
    in: Readable.from([]),
    out,
    err: out,
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
  };
  createOutput(terminal, 'json', (json) => json).printJson({ a: [1] });
  expect(written).toEqual(['{"a":[1]}']);
});
