import { describe, expect, test } from 'vitest';
import { compareFiles, compareJsonOutputs } from './compare-outputs.ts';

const compare = (original: unknown, replay: unknown) =>
  compareJsonOutputs(JSON.stringify(original), JSON.stringify(replay));

describe('outputs in JSON', () => {
  test.for([
    {
      title: 'the order of keys does not count',
      original: { solution: { a: 1, b: [1, 2] }, statistics: { schema: 'v1' } },
      replay: { statistics: { schema: 'v1' }, solution: { b: [1, 2], a: 1 } },
      inSolution: 0,
      paths: [],
    },
    {
      title: 'a duration in the statistics is not part of the solution',
      original: { solution: { a: 1 }, statistics: { run: { duration: 1.5 } } },
      replay: { solution: { a: 1 }, statistics: { run: { duration: 1.7 } } },
      inSolution: 0,
      paths: ['/statistics/run/duration'],
    },
    {
      title: 'the order of an array counts',
      original: { solution: { route: ['a', 'b'] } },
      replay: { solution: { route: ['b', 'a'] } },
      inSolution: 2,
      paths: ['/solution/route/0', '/solution/route/1'],
    },
    {
      title: 'a longer array differs once for each additional item',
      original: { solution: [1] },
      replay: { solution: [1, [2, 3], 4] },
      inSolution: 2,
      paths: ['/solution/1', '/solution/2'],
    },
    {
      title: 'solutions comes before other keys, and another key beside it is no solution',
      original: { version: 1, solutions: [1] },
      replay: { version: 2, solutions: [2] },
      inSolution: 1,
      paths: ['/solutions/0', '/version'],
    },
    {
      title: 'an output without the key solution is a solution as a whole, without its reports',
      original: { routes: 1, metrics: { x: 1 }, options: {}, assets: [] },
      replay: { routes: 2, metrics: { x: 2 }, options: {}, assets: [] },
      inSolution: 1,
      paths: ['/routes', '/metrics/x'],
    },
    {
      title: 'an output of reports alone has no solution',
      original: { statistics: { result: { value: 1 } } },
      replay: { statistics: { result: { value: 2 } } },
      inSolution: null,
      paths: ['/statistics/result/value'],
    },
    {
      title: 'null, an absent key, an empty object and an empty array all differ',
      original: { solution: { a: null, c: {}, d: 0 } },
      replay: { solution: { b: null, c: [], d: false } },
      inSolution: 4,
      paths: ['/solution/a', '/solution/c', '/solution/d', '/solution/b'],
    },
    {
      title: 'slashes and tildes of keys are escaped as in RFC 6901',
      original: { solution: { 'a/b~c': 1, '': 1 } },
      replay: { solution: { 'a/b~c': 2, '': 2 } },
      inSolution: 2,
      paths: ['/solution/a~1b~0c', '/solution/'],
    },
    {
      title: 'the key __proto__ is a key like any other',
      original: { solution: JSON.parse('{"__proto__": 1}') },
      replay: { solution: {} },
      inSolution: 1,
      paths: ['/solution/__proto__'],
    },
  ])('$title', ({ original, replay, inSolution, paths }) => {
    const differences = compare(original, replay);
    expect(differences).toMatchObject({ inSolution, total: paths.length });
    expect(differences.listed.map(({ path }) => path)).toEqual(paths);
  });

  test('numbers are compared by value, not by their digits', () => {
    expect(compareJsonOutputs('{"solution": [1.0, 1e2]}', '{"solution":[1,100]}')).toMatchObject({
      total: 0,
    });
  });

  test('a listed difference quotes both values, and describes long ones', () => {
    const long = 'x'.repeat(500);
    const { listed } = compare(
      { solution: { a: long, b: [1, 2], c: 3 } },
      { solution: { a: 1, b: { d: 1 } } },
    );
    expect(listed).toEqual([
      { path: '/solution/a', original: `"${'x'.repeat(199)}…`, replay: '1' },
      { path: '/solution/b', original: 'array of 2', replay: 'object with 1 keys' },
      { path: '/solution/c', original: '3', replay: null },
    ]);
  });

  test('20 differences are listed and all are counted', () => {
    const list = (value: number) => ({ solution: Array.from({ length: 1000 }, () => value) });
    const { total, listed } = compare(list(1), list(2));
    expect(total).toBe(1000);
    expect(listed).toHaveLength(20);
    expect(listed.at(-1)?.path).toBe('/solution/19');
  });

  test('outputs nested deeper than the stack of calls are compared', () => {
    const nest = (inner: string) => `{"solution":${'['.repeat(20_000)}${inner}${']'.repeat(20_000)}}`;
    expect(compareJsonOutputs(nest('1'), nest('1')).total).toBe(0);
    expect(compareJsonOutputs(nest('1'), nest('2')).total).toBe(1);
  });
});

test('files of archives are compared by path and hash', () => {
  const original = new Map([
    ['b.csv', '1'],
    ['a.csv', '2'],
    ['same.csv', '3'],
  ]);
  const replay = new Map([
    ['same.csv', '3'],
    ['a.csv', '4'],
    ['c.csv', '5'],
  ]);
  expect(compareFiles(original, original)).toEqual({ inSolution: 0, total: 0, listed: [] });
  expect(compareFiles(original, replay)).toEqual({
    inSolution: 3,
    total: 3,
    listed: [
      { path: 'a.csv', original: 'sha256 2', replay: 'sha256 4' },
      { path: 'b.csv', original: 'sha256 1', replay: null },
      { path: 'c.csv', original: null, replay: 'sha256 5' },
    ],
  });
});
