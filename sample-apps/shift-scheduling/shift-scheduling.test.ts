/** Runs the app as the platform does: a process of its own, JSON in, JSON out. The checker here shares no code with it. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = dirname(fileURLToPath(import.meta.url));

interface RawEmployee {
  id: string;
  skills: string[];
  availability: { start: string; end: string }[];
  min_hours?: number;
  contract_hours?: number;
  max_hours: number;
  preferences?: { shift: string; cost: number }[];
}
interface RawShift {
  id: string;
  start: string;
  end: string;
  demand: { skill: string; count: number; penalty?: number }[];
}
interface RawInput {
  employees: RawEmployee[];
  shifts: RawShift[];
  rules?: { rest_hours?: number; max_consecutive_days?: number };
  costs?: { uncovered?: number; overtime_per_hour?: number };
}
interface Assignment {
  employee: string;
  shift: string;
  skill: string;
}
interface Output {
  options: Record<string, number>;
  solution: {
    status: string;
    reasons: string[];
    assignments: Assignment[];
    uncovered: { shift: string; skill: string; missing: number }[];
    employees: { id: string; hours: number; overtime_hours: number }[];
  };
  statistics: {
    schema: string;
    run: { duration: number };
    result: { value?: number; custom: Record<string, number | string> };
    series_data: { value: { data_points: { x: number; y: number }[] } };
  };
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(
  input: unknown,
  args: string[] = [],
  { cwd = folder, environment = process.env, onFirstLine = (_: number) => {} } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['main.ts', ...args], { cwd, env: environment });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      ended.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      if (ended.stderr === '' && child.pid) onFirstLine(child.pid);
      ended.stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ended, code }));
    child.stdin.on('error', () => {});
    child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
  });
}

/** Proofs have time enough even on a busy machine; a solved problem does not use it. */
async function solve(input: RawInput, args: string[] = ['-duration', '120']): Promise<Output> {
  const ended = await run(input, args);
  expect(ended.stderr.split('\n').filter(Boolean)).not.toHaveLength(0);
  expect(ended.code).toBe(0);
  return JSON.parse(ended.stdout) as Output;
}

const hour = 3_600_000;
const at = (time: string) => Date.parse(`${time}:00Z`);
const sumHours = (shift: RawShift) => (at(shift.end) - at(shift.start)) / hour;

/** Every broken rule of a roster, in words. */
function violations(input: RawInput, roster: readonly Assignment[]): string[] {
  const found: string[] = [];
  const rest = (input.rules?.rest_hours ?? 11) * hour;
  const findShift = new Map(input.shifts.map((shift) => [shift.id, shift]));
  for (const employee of input.employees) {
    const own = roster.filter((seat) => seat.employee === employee.id);
    const shifts = own.flatMap((seat) => findShift.get(seat.shift) ?? []);
    if (shifts.length !== own.length) found.push(`${employee.id} works a shift that does not exist`);
    for (const seat of own) {
      if (!employee.skills.includes(seat.skill)) found.push(`${employee.id} lacks ${seat.skill}`);
    }
    for (const shift of shifts) {
      const there = employee.availability.some(
        ({ start, end }) => at(start) <= at(shift.start) && at(shift.end) <= at(end),
      );
      if (!there) found.push(`${employee.id} is away in ${shift.id}`);
    }
    const sorted = shifts.sort((a, b) => at(a.start) - at(b.start));
    sorted.forEach((shift, index) => {
      const next = sorted[index + 1];
      if (next && at(next.start) < at(shift.end) + rest)
        found.push(`${employee.id} has no rest after ${shift.id}`);
    });
    const hours = shifts.reduce((sum, shift) => sum + sumHours(shift), 0);
    if (hours > employee.max_hours) found.push(`${employee.id} works ${hours} h`);
    if (hours < (employee.min_hours ?? 0)) found.push(`${employee.id} works only ${hours} h`);
    const days = new Set(shifts.map((shift) => Date.parse(shift.start.slice(0, 10)) / (24 * hour)));
    const limit = input.rules?.max_consecutive_days ?? Infinity;
    for (const day of days) {
      let length = 1;
      while (days.has(day + length)) length += 1;
      if (length > limit) found.push(`${employee.id} works ${length} days in a row`);
    }
  }
  for (const shift of input.shifts) {
    for (const { skill, count } of shift.demand) {
      const filled = roster.filter((seat) => seat.shift === shift.id && seat.skill === skill).length;
      if (filled > count) found.push(`${shift.id} has ${filled} of ${skill}`);
    }
  }
  return found;
}

/** The cost of a roster by the README: missing people, preferences, overtime. */
function computeCost(input: RawInput, roster: readonly Assignment[]): number {
  let cost = 0;
  for (const shift of input.shifts) {
    for (const { skill, count, penalty } of shift.demand) {
      const filled = roster.filter((seat) => seat.shift === shift.id && seat.skill === skill).length;
      cost += Math.max(0, count - filled) * (penalty ?? input.costs?.uncovered ?? 100);
    }
  }
  for (const employee of input.employees) {
    const own = roster.filter((seat) => seat.employee === employee.id);
    let hours = 0;
    for (const seat of own) {
      cost += employee.preferences?.find(({ shift }) => shift === seat.shift)?.cost ?? 0;
      const shift = input.shifts.find(({ id }) => id === seat.shift);
      hours += shift ? sumHours(shift) : 0;
    }
    const contract = employee.contract_hours ?? employee.max_hours;
    cost += Math.max(0, hours - contract) * (input.costs?.overtime_per_hour ?? 10);
  }
  return cost;
}

/** The least cost over all rosters, or null when none keeps the rules. For a handful of seats only. */
function exhaustiveOptimum(input: RawInput): number | null {
  const choices = input.employees.flatMap((employee) =>
    input.shifts.map((shift) =>
      shift.demand
        .filter(({ skill }) => employee.skills.includes(skill))
        .map(({ skill }): Assignment => ({ employee: employee.id, shift: shift.id, skill })),
    ),
  );
  let best: number | null = null;
  const extend = (index: number, roster: Assignment[]) => {
    const options = choices[index];
    if (!options) {
      if (violations(input, roster).length === 0)
        best = Math.min(best ?? Infinity, computeCost(input, roster));
      return;
    }
    extend(index + 1, roster);
    for (const seat of options) extend(index + 1, [...roster, seat]);
  };
  extend(0, []);
  return best;
}

function randomInput(seed: number): RawInput {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  const starts = ['2026-03-02T06:00', '2026-03-02T14:00', '2026-03-03T06:00'];
  const ends = ['2026-03-02T14:00', '2026-03-02T22:00', '2026-03-03T16:00'];
  const shifts = starts.map((start, i) => ({
    id: `s${i}`,
    start,
    end: ends[i] ?? start,
    demand: [
      { skill: 'a', count: 1 + below(2), penalty: 20 + below(80) },
      ...(below(2) ? [{ skill: 'b', count: 1 }] : []),
    ],
  }));
  const employees = ['x', 'y', 'z'].map((id) => ({
    id,
    skills: [['a'], ['a', 'b'], ['b']][below(3)] ?? ['a'],
    availability: [{ start: '2026-03-02T00:00', end: below(3) ? '2026-03-05T00:00' : '2026-03-03T18:00' }],
    min_hours: below(4) === 0 ? 14 : 0,
    contract_hours: 8 + below(10),
    max_hours: 18 + below(10),
    preferences: shifts.filter(() => below(2)).map(({ id: shift }) => ({ shift, cost: below(40) - 15 })),
  }));
  return {
    employees,
    shifts,
    rules: { rest_hours: 8 + below(4), max_consecutive_days: 1 + below(2) },
    costs: { uncovered: 60, overtime_per_hour: 3 + below(12) },
  };
}

async function example(name: string): Promise<RawInput> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as RawInput;
}

describe('shift scheduling', () => {
  it('finds what an exhaustive search finds, and says infeasible where that finds nothing', async () => {
    const inputs = Array.from({ length: 6 }, (_, index) => randomInput(1000 + 78 * index));
    const optima = inputs.map(exhaustiveOptimum);
    expect(optima.some((optimum) => optimum === null)).toBe(true);
    expect(optima.filter((optimum) => optimum !== null).length).toBeGreaterThan(2);
    const outputs = await Promise.all(inputs.map((input) => solve(input)));
    for (const [index, { solution, statistics }] of outputs.entries()) {
      const input = inputs[index] ?? { employees: [], shifts: [] };
      const optimum = optima[index];
      if (optimum === null) {
        expect(solution.status).toBe('infeasible');
        expect(solution.reasons[0]).toMatch(/employee "[xyz]" has min_hours 14/);
        expect(statistics.result).not.toHaveProperty('value');
      } else {
        expect(solution.status).toBe('optimal');
        expect(violations(input, solution.assignments)).toEqual([]);
        expect(statistics.result.value).toBeCloseTo(optimum ?? Number.NaN, 6);
        expect(computeCost(input, solution.assignments)).toBeCloseTo(optimum ?? Number.NaN, 6);
      }
    }
  });

  it.each([
    ['input.json', '120', ['optimal']],
    ['input-large.json', '2', ['feasible', 'optimal']],
  ])('keeps every rule on %s and reports its true cost', async (name, duration, statuses) => {
    const input = await example(name);
    const { solution, statistics } = await solve(input, ['-duration', duration]);
    expect(statuses).toContain(solution.status);
    expect(violations(input, solution.assignments)).toEqual([]);
    expect(statistics.schema).toBe('v1');
    expect(statistics.result.value).toBeCloseTo(computeCost(input, solution.assignments), 6);
    const { bound } = statistics.result.custom;
    if (typeof bound === 'number') expect(bound).toBeLessThanOrEqual((statistics.result.value ?? 0) + 1e-6);
    const values = statistics.series_data.value.data_points.map((point) => point.y);
    expect(values.at(-1)).toBeCloseTo(statistics.result.value ?? Number.NaN, 6);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    const missing = solution.uncovered.reduce((sum, gap) => sum + gap.missing, 0);
    expect(missing).toBe(statistics.result.custom.uncovered);
  });

  it('weighs the parts of the cost by the options', async () => {
    const input: RawInput = {
      employees: [
        {
          id: 'x',
          skills: ['a'],
          availability: [{ start: '2026-03-02T00:00', end: '2026-03-03T00:00' }],
          contract_hours: 5,
          max_hours: 10,
        },
      ],
      shifts: [
        { id: 's', start: '2026-03-02T08:00', end: '2026-03-02T16:00', demand: [{ skill: 'a', count: 2 }] },
      ],
    };
    const plain = await solve(input);
    expect(plain.statistics.result.value).toBe(100 + 3 * 10);
    const dear = await solve(input, ['-weight.overtime', '4']);
    expect(dear.statistics.result.value).toBe(200);
    expect(dear.solution.assignments).toEqual([]);
    expect(dear.options['weight.overtime']).toBe(4);
  });

  it('ends with the best roster so far on SIGTERM, also when it comes twice', async () => {
    const input = await example('input-large.json');
    const ended = await run(input, ['-duration', '600'], {
      onFirstLine: (pid) => {
        process.kill(pid, 'SIGTERM');
        process.kill(pid, 'SIGTERM');
      },
    });
    expect(ended.code).toBe(0);
    const { solution, statistics } = JSON.parse(ended.stdout) as Output;
    expect(solution.status).toBe('feasible');
    expect(violations(input, solution.assignments)).toEqual([]);
    expect(statistics.result.value).toBeCloseTo(computeCost(input, solution.assignments), 6);
  });

  it('runs from an archive alone: an empty folder with its files and the package, no home', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'shift-scheduling-'));
    try {
      const packageFolder = join(dirname(createRequire(import.meta.url).resolve('highs')), '..');
      await cp(folder, copy, { recursive: true, filter: (source) => !source.includes('.test.ts') });
      await cp(packageFolder, join(copy, 'node_modules', 'highs'), { recursive: true });
      const ended = await run(await example('input.json'), [], { cwd: copy, environment: {} });
      expect(ended.code).toBe(0);
      expect((JSON.parse(ended.stdout) as Output).solution.status).toBe('optimal');
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  const shift = {
    id: 's',
    start: '2026-03-02T08:00',
    end: '2026-03-02T16:00',
    demand: [{ skill: 'a', count: 1 }],
  };
  const employee = { id: 'x', skills: ['a'], availability: [], max_hours: 40 };
  it.each([
    ['', [], 'standard input is empty: it must hold one JSON object'],
    ['[1', [], 'standard input is not JSON'],
    [[], [], 'the input is []: it must be an object'],
    [{ shifts: [] }, [], 'employees is missing: it must be a list'],
    [{ employees: [], shifts: [], rule: {} }, [], 'the input has the unknown field "rule"'],
    [
      { employees: [{ ...employee, max_hours: -1 }], shifts: [] },
      [],
      'employees[0].max_hours is -1: it must be a number from 0',
    ],
    [
      { employees: [{ ...employee, min_hours: 41 }], shifts: [] },
      [],
      'employees[0].min_hours is 41: it must be a number from 0 to 40',
    ],
    [
      { employees: [employee, employee], shifts: [] },
      [],
      'employees[1] is "x", like employees[0]: it must be unique',
    ],
    [
      { employees: [], shifts: [{ ...shift, end: '2026-03-02T08:00' }] },
      [],
      'shifts[0].end is "2026-03-02T08:00": it must be later than start',
    ],
    [
      { employees: [], shifts: [{ ...shift, start: '2026-02-30 8:00' }] },
      [],
      'shifts[0].start is "2026-02-30 8:00": it must be a time like',
    ],
    [
      { employees: [], shifts: [{ ...shift, demand: [{ skill: 'a', count: 1.5 }] }] },
      [],
      'shifts[0].demand[0].count is 1.5: it must be a whole number',
    ],
    [
      { employees: [{ ...employee, preferences: [{ shift: 't', cost: 1 }] }], shifts: [shift] },
      [],
      'for shift "t": it must be the id of a shift',
    ],
    [
      { employees: [], shifts: [] },
      ['-duration', 'soon'],
      'option -duration is "soon": it must be a number from 0.1 to 43200',
    ],
    [{ employees: [], shifts: [] }, ['-speed', '1'], 'option "-speed" is unknown: the options are -duration'],
    [{ employees: [], shifts: [] }, ['-gap'], 'option -gap has no value: it takes a number'],
  ])('refuses %j %j with one sentence', async (input, args, message) => {
    const { code, stdout, stderr } = await run(input, args);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  it('takes a problem without shifts as solved', async () => {
    const { solution, statistics } = await solve({ employees: [], shifts: [] });
    expect(solution.status).toBe('optimal');
    expect(statistics.result.value).toBe(0);
  });
});
