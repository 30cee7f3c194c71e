import { expect, test } from 'vitest';
import { listChanges } from './list-changes.ts';

const LIMITS = { changesMax: 200 };

test.each<[string, unknown, unknown, [string, unknown, unknown][]]>([
  ['equal values', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a number', { a: 1 }, { a: 2 }, [['a', 1, 2]]],
  ['an added field', {}, { a: null }, [['a', undefined, null]]],
  ['a removed item', [1, 2], [1], [['[1]', 2, undefined]]],
  ['another type', { a: [] }, { a: {} }, [['a', [], {}]]],
  ['the root', 'x', 'y', [['', 'x', 'y']]],
  ['a field of every object', { toString: 1 }, {}, [['toString', 1, undefined]]],
  [
    'a nested place',
    { routes: [{ stops: [1] }, { stops: [2] }] },
    { routes: [{ stops: [1] }, { stops: [3] }] },
    [['routes[1].stops[0]', 2, 3]],
  ],
])('%s', (_title, before, after, expected) => {
  const { changes, isComplete } = listChanges(before, after, LIMITS);
  expect(changes.map((change) => [change.path, change.before, change.after])).toEqual(expected);
  expect(isComplete).toBe(true);
});

test('the changes are in the order of the content', () => {
  const { changes } = listChanges({ a: 1, b: 1, c: 1 }, { a: 2, b: 2, c: 2 }, LIMITS);
  expect(changes.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
});

test('many changes and a deep value end early and say so', () => {
  const long = Array.from({ length: 1000 }, (_, index) => index);
  const shifted = long.map((value) => value + 1);
  const { changes, isComplete } = listChanges(long, shifted, LIMITS);
  expect(changes).toHaveLength(200);
  expect(isComplete).toBe(false);
  const nest = (value: unknown) => {
    let nested = value;
    for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
    return nested;
  };
  expect(listChanges(nest(1), nest(2), LIMITS).changes).toHaveLength(1);
});
