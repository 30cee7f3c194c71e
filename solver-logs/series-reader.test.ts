/** The reader against logs of real solvers, whose final numbers the solvers' own API wrote beside them. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeriesReader, type LogSolve, type SeriesPoint } from './series-reader.ts';
import type { SolveStatus } from './solvers/format.ts';

interface Expected {
  solver: string;
  case: string;
  /** In the solver's own words or codes. */
  status: string | number;
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
const REPORTED = new URL('./testing/reported/', import.meta.url);
const SOLVERS: Record<string, string> = {
  highs: 'HiGHS',
  'cp-sat': 'CP-SAT',
  gurobi: 'Gurobi',
  cbc: 'CBC',
  cbc3: 'CBC',
  scip: 'SCIP',
  cplex: 'CPLEX',
  glpk: 'GLPK',
  xpress: 'Xpress',
  copt: 'COPT',
  pyvrp: 'PyVRP',
  routing: 'OR-Tools routing',
};

/** The statuses that a case can have: presolve of some solvers does not tell infeasible from unbounded. */
const STATUSES: Record<string, readonly SolveStatus[]> = {
  minimise: ['optimal'],
  maximise: ['optimal'],
  lp: ['optimal'],
  'time-limit': ['time_limit'],
  infeasible: ['infeasible', 'infeasible_or_unbounded'],
  'lp-infeasible': ['infeasible', 'infeasible_or_unbounded'],
  'lp-unbounded': ['unbounded', 'infeasible_or_unbounded'],
  routes: ['feasible'],
};
const MAXIMISED = new Set(['maximise', 'time-limit', 'lp', 'lp-unbounded']);
const WITHOUT_SOLUTION = new Set(['infeasible', 'lp-infeasible', 'lp-unbounded']);
/** Through its libraries CPLEX prints no status, unless its time is over. */
const isSilent = ({ name }: Log): boolean => /^cplex-(?:minimise|maximise|infeasible)$/.test(name);

const readText = (folder: URL, file: string): string[] =>
  readFileSync(new URL(file, folder), 'utf8').split('\n');

function readLogs(): Log[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.out'));
  return names.map((file) => {
    const name = file.replace('.out', '');
    const expected: Expected = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
    return { name, lines: readText(FOLDER, file), expected };
  });
}

const LOGS = readLogs();
const MINIMISE_LOGS = LOGS.filter(({ expected }) => expected.case === 'minimise');
const ALL_LOGS: { name: string; lines: readonly string[] }[] = [
  ...LOGS,
  ...readdirSync(REPORTED).map((file) => ({ name: file, lines: readText(REPORTED, file) })),
];

interface Read {
  points: SeriesPoint[];
  solves: readonly LogSolve[];
}

/** Reads the lines; the time of each is its number. */
function readLog(lines: readonly string[]): Read {
  const reader = createSeriesReader();
  const points = lines.flatMap((line, index) => reader.push(line, index));
  return { points, solves: reader.solves };
}

const readLines = (lines: readonly string[]): SeriesPoint[] => readLog(lines).points;

function listValues(points: readonly SeriesPoint[], name: string): number[] {
  return points.flatMap(({ series }) => series[name] ?? []);
}

/** Returns a solver's points without their time and the count of solves, which other logs around it change. */
function filterPoints(points: readonly SeriesPoint[], solver: string | undefined) {
  return points.filter((point) => point.solver === solver).map(({ series, phase }) => ({ series, phase }));
}

test('there is a log of each solver and case', () => {
  for (const solver of Object.keys(SOLVERS)) {
    const count = solver === 'pyvrp' || solver === 'routing' ? 1 : 4;
    expect(LOGS.filter(({ expected }) => expected.solver === solver).length).toBeGreaterThanOrEqual(count);
  }
});

describe.each(LOGS)('$name', (log) => {
  const { lines, expected } = log;
  const { points, solves } = readLog(lines);
  const [solve] = solves;
  const hasSolution = !WITHOUT_SOLUTION.has(expected.case);

  test('the last numbers are those of the solver itself', () => {
    expect(solves).toHaveLength(1);
    if (hasSolution && expected.objective !== null) {
      expect(solve?.objective).toBeCloseTo(expected.objective, expected.case === 'lp' ? 4 : 5);
      expect(listValues(points, 'objective').at(-1)).toBe(solve?.objective);
    } else {
      expect(solve?.objective).toBeNull();
      expect(solve?.gap).toBeNull();
    }
    // Of a linear program the API of HiGHS reports a bound of 0 and -1 nodes.
    if (expected.case === 'lp') expect(solve?.bound).toBe(solve?.objective);
    else if (hasSolution && expected.bound !== null) expect(solve?.bound).toBeCloseTo(expected.bound, 1);
    if (!expected.case.startsWith('lp') && expected.nodes !== undefined)
      expect(solve?.nodes).toBe(expected.nodes);
  });

  test('the status is that of the solver, and time, version and threads are known where it prints them', () => {
    expect(solve?.solver).toBe(SOLVERS[expected.solver]);
    if (isSilent(log)) expect(solve?.status).toBeNull();
    else expect(STATUSES[expected.case]).toContain(solve?.status);
    if (!['glpk', 'xpress'].includes(expected.solver)) expect(solve?.seconds).toBeGreaterThanOrEqual(0);
    if (
      !['scip', 'routing'].includes(expected.solver) &&
      lines.some((line) => /\b(?:[Vv]ersion|Optimizer|HiGHS|PyVRP|solver)\b.* v?\d+\.\d+/.test(line))
    )
      expect(solve?.version ?? 'devel').toMatch(/^(?:\d+\.\d+|devel)/);
    const threads = { gurobi: 1, 'cp-sat': 8, xpress: 1, copt: 1 }[expected.solver];
    if (threads !== undefined) expect(solve?.threads).toBe(threads);
  });

  test('points belong to one solve, which finishes', () => {
    expect(new Set(points.map(({ solver }) => solver))).toEqual(new Set([SOLVERS[expected.solver]]));
    expect(new Set(points.map(({ solve }) => solve))).toEqual(new Set([0]));
    expect(points.some(({ phase }) => phase === 'finished')).toBe(true);
  });

  test('the incumbent improves, the bound tightens, and the gap is a ratio of both', () => {
    const direction = MAXIMISED.has(expected.case) ? 1 : -1;
    expect(isSorted(listValues(points, 'objective'), direction)).toBe(true);
    expect(isSorted(listValues(points, 'bound'), -direction)).toBe(true);
    for (const { series, solver } of points) {
      const { objective, bound, gap } = series;
      if (objective === undefined || bound === undefined || gap === undefined) continue;
      // SCIP divides by the smaller of both, Xpress and COPT by the larger. Printed gaps have two or three digits.
      const ends = [objective, bound].map(Math.abs);
      const divisor =
        solver === 'SCIP'
          ? Math.min(...ends)
          : /Xpress|COPT/.test(solver ?? '')
            ? Math.max(...ends)
            : Math.abs(objective);
      const ratio = Math.abs(objective - bound) / divisor;
      expect(Math.abs(gap - ratio)).toBeLessThanOrEqual(0.001 + 0.01 * ratio);
    }
  });
});

/** Rounded numbers of tables may be worse than the exact ones of a report by a ten thousandth. */
function isSorted(values: readonly number[], sign: number): boolean {
  return values.every((value, index) => {
    const before = values[index - 1] ?? value;
    return sign * (value - before) >= -1e-4 * Math.max(1, Math.abs(before));
  });
}

describe.each(ALL_LOGS)('$name', ({ name, lines }) => {
  const whole = readLog(lines);

  test('a log that is cut anywhere gives the first points of the whole log', () => {
    for (let end = 0; end <= lines.length; end += 1 + Math.floor(lines.length / 40)) {
      const cut = readLines(lines.slice(0, end));
      expect(cut.map(({ series, phase, seconds }) => ({ series, phase, seconds }))).toEqual(
        whole.points.slice(0, cut.length).map(({ series, phase, seconds }) => ({ series, phase, seconds })),
      );
    }
  });

  test('the clock of a solve never goes back, and no point is later than its end', () => {
    for (const { solve, seconds: end } of whole.solves) {
      const clocks = whole.points
        .filter((point) => point.solve === solve)
        .flatMap(({ seconds }) => seconds ?? []);
      expect(clocks).toEqual(clocks.toSorted((one, other) => one - other));
      if (end !== null) expect(Math.max(0, ...clocks)).toBeLessThanOrEqual(end);
    }
  });

  test('incumbent and bound of a solve agree with one direction', () => {
    for (const { solve } of whole.solves) {
      const own = whole.points.filter((point) => point.solve === solve);
      const objectives = listValues(own, 'objective');
      const isEither = (values: readonly number[]) => [1, -1].some((sign) => isSorted(values, sign));
      expect(isEither(objectives)).toBe(true);
      const last = objectives.at(-1);
      const bound = listValues(own, 'bound').at(-1);
      const [first] = objectives;
      if (last === undefined || bound === undefined || first === undefined || first === last) continue;
      expect(isSorted([last, bound], Math.sign(last - first))).toBe(true);
    }
  });

  test.each([
    '2026-11-29 10:15:07.123 | INFO     | __main__:solve:42 - ',
    'solver - ',
    '10:15:07.123 [main] INFO  com.example.Solver -- ',
    '[2026-11-29, 10:15:07 UTC] {logging_mixin.py:188} INFO - ',
    'I1129 10:15:07.123456 20962 solver.cc:131] ',
    'solver-1  | ',
    'Nov 29 10:15:07 host app[123]: ',
    '2026-11-29 10:15:07 [info     ] ',
    "10:15:07.123 | INFO    | Task run 'solve-0' - ",
    '(solve pid=1234) ',
    '[1,0]<stdout>:',
    '  0%|          | 0/10 [00:00<?, ?it/s]\r',
    '2026-11-29T10:15:07Z stdout F ',
  ])('the prefix %j changes nothing', (prefix) => {
    // Some lines of this log have a prefix of their own.
    if (name.includes('glog')) return;
    const strip = ({ points, solves }: Read) => ({ points, solves });
    expect(strip(readLog(lines.map((line) => prefix + line)))).toEqual(strip(whole));
  });
});

describe('reported logs', () => {
  test.each<[string, Partial<LogSolve>[]]>([
    ['cbc-infeasible', [{ solver: 'CBC', status: 'infeasible', objective: null, gap: null }]],
    ['cbc3-infeasible', [{ solver: 'CBC', status: 'infeasible', objective: null, gap: null }]],
    ['highs-infeasible', [{ solver: 'HiGHS', status: 'infeasible', objective: null, gap: null }]],
    ['highs-odd-inf-lp', [{ solver: 'HiGHS', status: 'infeasible', objective: null, gap: null }]],
    ['scip-infeasible', [{ solver: 'SCIP', status: 'infeasible', objective: null, gap: null }]],
    // The incumbent was one of a relaxation.
    ['cbc803', [{ solver: 'CBC', status: 'infeasible', objective: null, gap: null }]],
    ['cbc-lp', [{ solver: 'CBC', status: 'optimal', objective: 1068.490475 }]],
    ['cbc3-lp', [{ solver: 'CBC', status: 'optimal', objective: 1068.490475 }]],
    ['glpk-lp', [{ solver: 'GLPK', status: 'optimal', objective: 981234.5 }]],
    [
      'copt-mip',
      [
        {
          solver: 'COPT',
          version: '8.0.7',
          status: 'optimal',
          objective: 1054,
          bound: 1054,
          nodes: 479,
          seconds: 2.07,
          threads: 2,
        },
      ],
    ],
    [
      'xpress-mip',
      [
        {
          solver: 'Xpress',
          version: '9.9.1',
          status: 'optimal',
          objective: 1054,
          bound: 1054,
          nodes: 0,
          seconds: 0.17,
          threads: 2,
        },
      ],
    ],
    [
      'cplex17-restart',
      [{ solver: 'CPLEX', status: 'time_limit', objective: 0.15, bound: 0.197, nodes: 4501, seconds: 60.01 }],
    ],
    // The line with the newer bound repeats an older best.
    ['cpsat-stale-bound', [{ solver: 'CP-SAT', status: null, objective: 1664765790, bound: 66147137 }]],
    ['cpsat1797-glog', [{ solver: 'CP-SAT', status: 'feasible', objective: 1891730, bound: 2013672 }]],
    [
      'cuopt',
      [{ solver: 'cuOpt', version: '26.6.0', status: 'optimal', objective: 400, nodes: 1000, seconds: 5 }],
    ],
    [
      'mosek60',
      [{ solver: 'MOSEK', version: '10.1.12', status: 'optimal', objective: 655.93301415, threads: 8 }],
    ],
    ['ortools-routing', [{ solver: 'OR-Tools routing', status: null, objective: 6208, seconds: 0.022 }]],
    ['pyvrp', [{ solver: 'PyVRP', version: '0.12.0', status: 'feasible', objective: 27591, seconds: 5 }]],
    ['timefold', [{ solver: 'Timefold', status: null, objective: -800, seconds: 5 }]],
    [
      'gurobi-cut',
      [
        {
          solver: 'Gurobi',
          status: 'interrupted',
          objective: 5280700,
          bound: 5280100,
          nodes: 2300,
          seconds: 1300,
        },
      ],
    ],
    [
      'gurobi-multi-objective',
      [
        { solve: 0, solver: 'Gurobi', version: '12.0.1', status: 'optimal', objective: 10, bound: 10 },
        { solve: 1, solver: 'Gurobi', version: '12.0.1', objective: 600, bound: 600 },
      ],
    ],
    [
      'highs660-old',
      [{ solver: 'HiGHS', status: 'optimal', objective: -12809613.6905, bound: -12810213.1, seconds: 7.1 }],
    ],
    // Its libraries print no banner.
    [
      'hexaly',
      [
        { solver: 'Hexaly', status: 'time_limit', objective: 2132, bound: 1920, seconds: 20 },
        { solver: 'Hexaly', status: 'optimal', objective: 280, bound: 280, gap: 0, seconds: 0 },
      ],
    ],
    // A solution that violates constraints proves nothing, and an inconsistent model has none.
    [
      'hexaly-infeasible',
      [
        { solver: 'Hexaly', version: '15.0', status: 'time_limit', objective: null, seconds: 5 },
        { solver: 'Hexaly', status: 'infeasible', objective: null },
      ],
    ],
    ['localsolver', [{ solver: 'Hexaly', version: '9.5', status: 'optimal', objective: 280, seconds: 2 }]],
  ])('%s', (name, solves) => {
    expect(readLog(readText(REPORTED, `${name}.txt`)).solves).toMatchObject(solves);
  });

  test('a log that ends in the middle has what was printed so far, and no status', () => {
    const lines = readText(REPORTED, 'gurobi-cut.txt');
    const end = lines.findIndex((line) => line.startsWith('Interrupt request'));
    expect(readLog(lines.slice(0, end)).solves).toMatchObject([
      { status: null, objective: 5280700, bound: 5280100 },
    ]);
  });
});

describe('shapes of lines in public logs', () => {
  const readSolves = (text: string) => readLog(text.split('\n')).solves;

  test('Gurobi: the bound of the last line is that of the model, whatever the rows and the start had', () => {
    const end = (objective: string, bound: string) =>
      `Optimal solution found (tolerance 1.00e-04)\nBest objective ${objective}, best bound ${bound}, gap 0.0005%`;
    expect(
      readSolves(`Gurobi Optimizer version 12.0.1 build v12.0.1rc0
Found heuristic solution: objective 5000.0000000
    Nodes    |    Current Node    |     Objective Bounds      |     Work
 Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap | It/Node Time
     0     2 2000.00000    0    9 3.2001e+03 2000.00000  37.5%     -    1s
Explored 80 nodes (900 simplex iterations) in 1.50 seconds
${end('3.200126000000e+03', '3.200064500000e+03')}`),
    ).toMatchObject([{ status: 'optimal', objective: 3200.126, bound: 3200.0645, nodes: 80 }]);
    // The second objective of a model maximises. No line but the last tells that the start was not the best.
    expect(
      readSolves(`Multi-objectives: optimize objective 1 (Cost) ...
Loaded user MIP start with objective 4
Explored 0 nodes (0 simplex iterations) in 0.02 seconds
${end('9.000000000000e+00', '9.000000000000e+00')}`),
    ).toMatchObject([{ status: 'optimal', objective: 9, bound: 9 }]);
  });

  test('CP-SAT: a proof at the time limit is a proof', () => {
    const read = (status: string) =>
      readSolves(`Starting CP-SAT solver v9.8.3296
Parameters: max_time_in_seconds: 30 log_search_progress: true relative_gap_limit: 0.001
#1       2.10s best:900   next:[700,899]  quick_restart
CpSolverResponse summary:
status: ${status}
objective: 900
best_bound: 899.5
walltime: 29.95`);
    expect(read('OPTIMAL')).toMatchObject([{ status: 'optimal', objective: 900, bound: 899.5 }]);
    expect(read('FEASIBLE')).toMatchObject([{ status: 'time_limit', objective: 900 }]);
  });

  test.each([
    ['FICO Xpress v8.5.1, solve started 12:07:58, May 25, 2018', '8.5.1'],
    ['FICO Xpress-Optimizer 64-bit v30.01.03 (Hyper64 capacity)', '30.01.03'],
  ])(
    '%s: rows without a solution have the bound alone, and the report has the best solution',
    (banner, version) => {
      expect(
        readSolves(`${banner}
Minimizing MILP plan
Starting root cutting & heuristics

 Its Type    BestSoln    BestBound   Sols    Add    Del     Gap     GInf   Time
   1  K                 -577.86560      0   1745    107              425      2
a           -100.00000  -560.00000      1                  82.14%       0      3

    Node     BestSoln    BestBound   Sols Active  Depth     Gap     GInf   Time
      10  -410.000000  -543.500000      2      4      3   24.56%      20      9
 STOPPING - MAXTIME limit reached.
 *** Search unfinished ***     Time:    10 Nodes:         52
Number of integer feasible solutions found is 3
Best integer solution found is   -430.000000
Best bound is   -520.000000`),
      ).toMatchObject([
        {
          ...{ solver: 'Xpress', version, status: 'time_limit', objective: -430, bound: -520 },
          ...{ nodes: 52, seconds: 10 },
        },
      ]);
      const infeasible = `${banner}
Minimizing MILP plan
 *** Search completed ***     Time:     0 Nodes:          0
Problem is integer infeasible
Number of integer feasible solutions found is 0
Best bound is   1.00000E+40`;
      expect(readSolves(infeasible)).toMatchObject([{ status: 'infeasible', objective: null, bound: null }]);
    },
  );
});

describe('clocks', () => {
  test('a solve whose lines all arrive late began before them', () => {
    const reader = createSeriesReader();
    const log = readText(FOLDER, 'cbc-minimise.out');
    const points = log.flatMap((line) => reader.push(line, 100_000));
    // Its last line is of 28.89 s.
    expect(reader.solves[0]?.startedAt).toBeCloseTo(100_000 - 28_890, 6);
    expect(points.find(({ series }) => series.objective !== undefined)?.seconds).toBeLessThan(5);
  });

  test('a solve whose lines arrive at once as they are printed began with its banner', () => {
    const reader = createSeriesReader();
    reader.push(
      'Running HiGHS 1.16.0 (git hash: f3f113d): Copyright (c) 2026 under MIT licence terms',
      5_000,
    );
    const row = (seconds: string) =>
      ` H       0       0         0   0.00%   10              20             50.00%        0      0      0         0     ${seconds}s`;
    expect(reader.push(row('0.4'), 5_430)).toMatchObject([{ seconds: 0.4, startedAt: 5_000 }]);
    expect(reader.push(row('2.0'), 7_010)).toMatchObject([{ seconds: 2, startedAt: 5_000 }]);
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
      .filter((second) => SOLVERS[second.expected.solver] !== SOLVERS[first.expected.solver])
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

describe('JSON lines of loggers', () => {
  test.each(['message', 'msg', 'event', 'log'])('the message in %j is the line', (field) => {
    for (const { lines } of MINIMISE_LOGS) {
      const wrapped = lines.map((line) => JSON.stringify({ level: 'info', [field]: `${line}\n`, at: 17 }));
      expect(readLines(wrapped)).toEqual(readLines(lines));
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
