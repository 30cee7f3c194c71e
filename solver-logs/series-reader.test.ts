/** The reader against logs of real solvers, whose final numbers the solvers' own API wrote beside them. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeriesReader, type SeriesPoint } from './series-reader.ts';

interface Expected {
  solver: string;
  case: string;
  objective: number | null;
  bound: number | null;
  nodes?: number;
}

interface Log {
  name: string;
  lines: readonly string[];
  expected: Expected;
}

const FOLDER = new URL('./testing/logs/', import.meta.url);
const SOLVERS: Record<string, string> = {
  highs: 'HiGHS',
  'cp-sat': 'CP-SAT',
  gurobi: 'Gurobi',
  cbc: 'CBC',
  scip: 'SCIP',
  cplex: 'CPLEX',
  glpk: 'GLPK',
};

function readLogs(): Log[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.out'));
  return names.map((file) => {
    const name = file.replace('.out', '');
    const expected: Expected = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
    return { name, lines: readFileSync(new URL(file, FOLDER), 'utf8').split('\n'), expected };
  });
}

const LOGS = readLogs();
const MINIMISE_LOGS = LOGS.filter(({ expected }) => expected.case === 'minimise');

function readLines(lines: readonly string[]): SeriesPoint[] {
  const reader = createSeriesReader();
  return lines.flatMap((line, index) => reader.push(line, index));
}

function listValues(points: readonly SeriesPoint[], name: string): number[] {
  return points.flatMap(({ series }) => series[name] ?? []);
}

/** Returns a solver's points without their time and the count of solves, which other logs around it change. */
function filterPoints(points: readonly SeriesPoint[], solver: string | undefined) {
  return points.filter((point) => point.solver === solver).map(({ series, phase }) => ({ series, phase }));
}

test('there is a log of each solver and case', () => {
  for (const solver of Object.keys(SOLVERS)) {
    expect(LOGS.filter(({ expected }) => expected.solver === solver).length).toBeGreaterThanOrEqual(3);
  }
});

describe.each(LOGS)('$name', ({ lines, expected }) => {
  const points = readLines(lines);

  test('the last numbers are those of the solver itself', () => {
    const objective = listValues(points, 'objective').at(-1) ?? null;
    if (expected.objective === null) expect(objective).toBeNull();
    else expect(objective).toBeCloseTo(expected.objective, 6);
    if (expected.bound !== null) expect(listValues(points, 'bound').at(-1)).toBeCloseTo(expected.bound, 6);
    if (expected.nodes !== undefined) expect(listValues(points, 'nodes').at(-1)).toBe(expected.nodes);
  });

  test('points belong to one solve, which finishes', () => {
    expect(new Set(points.map(({ solver }) => solver))).toEqual(new Set([SOLVERS[expected.solver]]));
    expect(new Set(points.map(({ solve }) => solve))).toEqual(new Set([0]));
    // CBC ends an infeasible model without a result.
    if (expected.objective !== null) expect(points.at(-1)?.phase).toBe('finished');
  });

  test('the incumbent improves, the bound tightens, and the gap is a ratio of both', () => {
    const direction = expected.case === 'minimise' ? -1 : 1;
    const isSorted = (values: number[], sign: number) =>
      values.every((value, index) => index === 0 || sign * (value - (values[index - 1] ?? 0)) >= -1e-4);
    expect(isSorted(listValues(points, 'objective'), direction)).toBe(true);
    expect(isSorted(listValues(points, 'bound'), -direction)).toBe(true);
    for (const { series, solver } of points) {
      const { objective, bound, gap } = series;
      if (objective === undefined || bound === undefined || gap === undefined) continue;
      // SCIP divides by the smaller of both. Printed gaps have two or three digits.
      const divisor = solver === 'SCIP' ? Math.min(objective, bound) : objective;
      const ratio = Math.abs(objective - bound) / divisor;
      expect(Math.abs(gap - ratio)).toBeLessThanOrEqual(0.001 + 0.01 * ratio);
    }
  });
});

describe('several solves', () => {
  test.each(MINIMISE_LOGS)('$name twice in one log is two solves with equal points', ({ lines }) => {
    const points = readLines([...lines, ...lines]);
    const [first, second] = [0, 1].map((solve) => points.filter((point) => point.solve === solve));
    const strip = (list: SeriesPoint[] = []) => list.map(({ series, phase }) => ({ series, phase }));
    expect(strip(second)).toEqual(strip(first));
    expect(first?.length).toBeGreaterThan(5);
  });

  const pairs = MINIMISE_LOGS.flatMap((first, index) =>
    MINIMISE_LOGS.slice(index + 1)
      .filter((second) => second.expected.solver !== first.expected.solver)
      .map((second) => ({ first, second })),
  );
  test.each(pairs)(
    '$first.name and $second.name interleaved give the points of each',
    ({ first, second }) => {
      const count = Math.max(first.lines.length, second.lines.length);
      const lines = Array.from({ length: count }, (_, index) => [first.lines[index], second.lines[index]]);
      const points = readLines(lines.flat().filter((line) => line !== undefined));
      for (const { lines: own, expected } of [first, second]) {
        const solver = SOLVERS[expected.solver];
        expect(filterPoints(points, solver)).toEqual(filterPoints(readLines(own), solver));
      }
    },
  );
});

describe('prefixes of logging libraries', () => {
  const prefixes = [
    '2026-11-23 17:59:01,123 - gurobipy - INFO - ',
    '2026-11-23T17:59:01.123456Z ',
    '[2026-11-23 17:59:01+01:00] [INFO] ',
    '17:59:01 INFO solver.core: ',
    '17:59:01 [solver] WARNING | ',
    'INFO:gurobipy:',
    '[INFO] ',
    '\u001b[32mINFO\u001b[0m:solver:',
  ];
  test.each(prefixes)('%j', (prefix) => {
    for (const { lines } of MINIMISE_LOGS) {
      expect(readLines(lines.map((line) => prefix + line))).toEqual(readLines(lines));
    }
  });
});

describe('{"series": …} lines', () => {
  const names = Array.from({ length: 25 }, (_, index) => `name${index}`);
  test.each<[string, Record<string, number> | undefined]>([
    ['{"series": {"objective": 12.3, "bound": 11.9}}', { objective: 12.3, bound: 11.9 }],
    ['  {"series":{"a":-1e-3}} ', { a: -0.001 }],
    ['{"level": "info", "series": {"a": 1}}', { a: 1 }],
    ['INFO:app:{"series": {"a": 1}}', { a: 1 }],
    ['{"series": {"a": 1, "b": "2", "c": null, "d": [3], "e": {"f": 4}, "g": true}}', { a: 1 }],
    ['{"series": {"a": 1e999}}', undefined],
    ['{"series": {"": 1}}', undefined],
    ['{"series": {}}', undefined],
    ['{"series": [1, 2]}', undefined],
    ['{"series": 3}', undefined],
    ['{"series": {"a": 1}', undefined],
    ['{"nested": {"series": {"a": 1}}}', undefined],
    ['["series"]', undefined],
    [`{"series": {"${'x'.repeat(65)}": 1}}`, undefined],
    [
      JSON.stringify({ series: Object.fromEntries(names.map((name) => [name, 1])) }),
      Object.fromEntries(names.slice(0, 20).map((name) => [name, 1])),
    ],
  ])('%s', (line, series) => {
    expect(createSeriesReader().push(line, 7)).toEqual(series ? [{ at: 7, series }] : []);
  });

  test('a log has at most 20 names', () => {
    const points = readLines(names.map((name) => JSON.stringify({ series: { [name]: 1 } })));
    expect(points.flatMap(({ series }) => Object.keys(series))).toEqual(names.slice(0, 20));
  });

  test('a name of a prototype is a name', () => {
    const [point] = createSeriesReader().push('{"series": {"__proto__": 5}}', 0);
    expect(Object.entries(point?.series ?? {})).toEqual([['__proto__', 5]]);
  });
});

describe('hostile logs', () => {
  const allLines = LOGS.flatMap(({ lines }) => lines);
  const isSafe = (points: readonly SeriesPoint[]) =>
    points.every(({ series }) => Object.values(series).every(Number.isFinite));

  test('tables of other programs give no points', () => {
    expect(
      readLines(['0 0 12.0000 3 4.0000 5', 'H 0 0 12.0 4.0 66.7% - 0s', 'Gap : 3 %', '+ 1: ok']),
    ).toEqual([]);
  });

  test('cut, mixed and mutated lines give finite numbers and no error', () => {
    const line = fc.constantFrom(...allLines).chain((text) =>
      fc.oneof(
        fc.nat(text.length).map((end) => text.slice(0, end)),
        fc.constantFrom(...allLines).map((other) => text.slice(0, 30) + other.slice(20)),
        fc.string({ maxLength: 9 }).map((noise) => text.replace(/\d+/, noise)),
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (noise) =>
        isSafe(readLines([...allLines.slice(0, 90), ...noise])),
      ),
      { numRuns: 100, seed: 1 },
    );
  });

  test.each([' ', '0 ', '|', '-', '[', '1,', '#1 best:', '\u001b[3', '* 1 ', 'Cbc0010I After '])(
    'a line of 64 KiB and lines of 1 KiB of %j cost bounded time',
    (text) => {
      const reader = createSeriesReader();
      for (const line of allLines) reader.push(line, 0);
      const short = text.repeat(1_000 / text.length);
      const start = process.cpuUsage();
      for (let index = 0; index < 200; index += 1) {
        reader.push(text.repeat(65_536 / text.length), index);
        reader.push(short, index);
        reader.push(`${short}!`, index);
        reader.push(`{"series": ${'['.repeat(16_000)}`, index);
      }
      const { user, system } = process.cpuUsage(start);
      // 800 lines take 10 to 50 ms. A regular expression that backtracks takes minutes.
      expect(user + system).toBeLessThan(5_000_000);
    },
  );
});
