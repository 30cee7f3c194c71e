/** Runs the app as the platform does: a process of its own, JSON in, JSON out. */
import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = dirname(fileURLToPath(import.meta.url));
const pythonVersion = spawnSync('python3', ['--version']);
const hasPython = pythonVersion.status === 0;
if (!hasPython) {
  console.error(
    '\n*** python3 is not on the PATH: the tests of the knapsack app are SKIPPED, nothing was checked. ***\n',
  );
}

interface RawItem {
  id: string;
  value: number;
  uses: Record<string, number>;
  required?: boolean;
}
interface RawInput {
  capacities: Record<string, number>;
  items: RawItem[];
}
interface Output {
  options: Record<string, number>;
  solution: { status: string; reasons: string[]; items: string[]; used: Record<string, number> };
  statistics: {
    schema: string;
    result: { value?: number; custom: Record<string, number | string> };
    series_data: { value: { data_points: { x: number; y: number }[] } };
  };
}
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(input: unknown, args: string[] = [], onFirstLine = (_: number) => {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const environment = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' };
    const child = spawn('python3', ['main.py', ...args], { cwd: folder, env: environment });
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
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.stdout) as Output;
}

function usedBy(input: RawInput, ids: readonly string[], resource: string): number {
  return input.items.reduce(
    (sum, item) => (ids.includes(item.id) ? sum + (item.uses[resource] ?? 0) : sum),
    0,
  );
}

/** Every broken rule of a selection, in words. */
function violations(input: RawInput, ids: readonly string[]): string[] {
  const found: string[] = [];
  const known = input.items.map((item) => item.id);
  if (new Set(ids).size !== ids.length || ids.some((id) => !known.includes(id)))
    found.push(`ids ${ids.join()}`);
  for (const item of input.items) {
    if (item.required && !ids.includes(item.id)) found.push(`${item.id} is missing`);
  }
  for (const [resource, capacity] of Object.entries(input.capacities)) {
    const used = usedBy(input, ids, resource);
    if (used > capacity + 1e-6) found.push(`${resource}: ${used} of ${capacity}`);
  }
  return found;
}

function sumValues(input: RawInput, ids: readonly string[]): number {
  return input.items.reduce((sum, item) => (ids.includes(item.id) ? sum + item.value : sum), 0);
}

/** The best value over all subsets, or null when no subset keeps the rules. */
function exhaustiveOptimum(input: RawInput): number | null {
  const resources = Object.entries(input.capacities);
  let best: number | null = null;
  const extend = (index: number, left: number[], value: number) => {
    if (left.some((amount) => amount < -1e-9)) return;
    const item = input.items[index];
    if (!item) {
      best = Math.max(best ?? 0, value);
      return;
    }
    const after = left.map((amount, r) => amount - (item.uses[resources[r]?.[0] ?? ''] ?? 0));
    extend(index + 1, after, value + item.value);
    if (!item.required) extend(index + 1, left, value);
  };
  extend(
    0,
    resources.map(([, capacity]) => capacity),
    0,
  );
  return best;
}

function randomInput(seed: number, size: number, resources: number, fractional: boolean): RawInput {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  const names = Array.from({ length: resources }, (_, r) => `r${r}`);
  const items = Array.from({ length: size }, (_, i) => ({
    id: `i${i}`,
    value: fractional ? below(500) / 10 : below(50),
    uses: Object.fromEntries(
      names.filter(() => below(5) > 0).map((name) => [name, below(300) / (fractional ? 10 : 1)]),
    ),
    ...(below(9) === 0 ? { required: true } : {}),
  }));
  const scale = fractional ? 10 : 1;
  return {
    capacities: Object.fromEntries(names.map((name) => [name, (size * 40 + below(400)) / scale])),
    items,
  };
}

async function example(name: string): Promise<RawInput> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as RawInput;
}

describe.skipIf(!hasPython)('knapsack in Python', () => {
  it('finds what an exhaustive search finds, and says infeasible where that finds nothing', async () => {
    const inputs = Array.from({ length: 18 }, (_, index) =>
      randomInput(4000 + 31 * index, 6 + (index % 9), 1 + (index % 4), index % 3 === 0),
    );
    const optima = inputs.map(exhaustiveOptimum);
    expect(optima.filter((optimum) => optimum !== null).length).toBeGreaterThan(8);
    const outputs = await Promise.all(inputs.map((input) => solve(input)));
    for (const [index, { solution, statistics }] of outputs.entries()) {
      const input = inputs[index] ?? { capacities: {}, items: [] };
      const optimum = optima[index] ?? null;
      if (optimum === null) {
        expect(solution.status).toBe('infeasible');
        expect(statistics.result).not.toHaveProperty('value');
      } else {
        expect(solution.status).toBe('optimal');
        expect(violations(input, solution.items)).toEqual([]);
        expect(statistics.result.value).toBeCloseTo(optimum, 6);
        expect(sumValues(input, solution.items)).toBeCloseTo(optimum, 6);
        expect(statistics.result.custom.bound).toBeCloseTo(optimum, 6);
      }
    }
  });

  it('proves optima by branch and bound alone, without help from the local search', async () => {
    for (const seed of [1, 2, 3]) {
      const input = randomInput(900 + seed, 14, 3, false);
      const { solution, statistics } = await solve(input, ['-search.share', '0', '-duration', '120']);
      const optimum = exhaustiveOptimum(input);
      expect(statistics.result.custom.local_search_rounds).toBe(0);
      expect(statistics.result.value ?? null).toBe(optimum);
      expect(solution.status).toBe(optimum === null ? 'infeasible' : 'optimal');
    }
  });

  it.each([
    ['input.json', '120', ['optimal']],
    ['input-large.json', '1.5', ['feasible', 'optimal']],
  ])('keeps every rule on %s and reports its true value', async (name, duration, statuses) => {
    const input = await example(name);
    const { solution, statistics, options } = await solve(input, ['-duration', duration]);
    expect(statuses).toContain(solution.status);
    expect(options).toEqual({ duration: Number(duration), seed: 1, 'search.share': 0.3 });
    expect(violations(input, solution.items)).toEqual([]);
    expect(statistics.schema).toBe('v1');
    expect(statistics.result.value).toBe(sumValues(input, solution.items));
    expect(statistics.result.custom.bound).toBeGreaterThanOrEqual(statistics.result.value ?? Infinity);
    for (const resource of Object.keys(input.capacities)) {
      expect(solution.used[resource]).toBe(usedBy(input, solution.items, resource));
    }
    const values = statistics.series_data.value.data_points.map((point) => point.y);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.at(-1)).toBe(statistics.result.value);
  });

  it('says which resource the required items overrun', async () => {
    const input: RawInput = {
      capacities: { weight: 10, volume: 100 },
      items: [
        { id: 'a', value: 1, uses: { weight: 6 }, required: true },
        { id: 'b', value: 1, uses: { weight: 7, volume: 5 }, required: true },
      ],
    };
    const { solution } = await solve(input);
    expect(solution.status).toBe('infeasible');
    expect(solution.reasons).toEqual(['the required items use 13 of "weight", but its capacity is 10']);
    expect(solution.items).toEqual([]);
  });

  it('takes nothing from nothing, and everything that is free', async () => {
    const nothing = await solve({ capacities: { weight: 0 }, items: [] });
    expect(nothing.solution.status).toBe('optimal');
    expect(nothing.statistics.result.value).toBe(0);
    const free = await solve({
      capacities: { weight: 0 },
      items: [
        { id: 'a', value: 2, uses: {} },
        { id: 'b', value: 3, uses: { weight: 1 } },
      ],
    });
    expect(free.solution.items).toEqual(['a']);
  });

  it('ends with the best selection so far on SIGTERM', async () => {
    const input = await example('input-large.json');
    const ended = await run(input, ['-duration', '600'], (pid) => process.kill(pid, 'SIGTERM'));
    expect(ended.code).toBe(0);
    const { solution, statistics } = JSON.parse(ended.stdout) as Output;
    expect(solution.status).toBe('feasible');
    expect(violations(input, solution.items)).toEqual([]);
    expect(statistics.result.value).toBe(sumValues(input, solution.items));
  });

  const empty = { capacities: { weight: 1 }, items: [] };
  it.each([
    ['', [], 'standard input is empty: it must hold one JSON object'],
    ['{"a":', [], 'standard input is not JSON'],
    ['3', [], 'the input is 3: it must be an object'],
    [{ items: [] }, [], 'the input has no "capacities": it must have one'],
    [{ capacities: {}, items: [] }, [], 'capacities is {}: it must be an object with at least one resource'],
    [
      { ...empty, capacities: { weight: '9' } },
      [],
      'capacities["weight"] is "9": it must be a number from 0 to 1e12',
    ],
    [{ ...empty, item: [] }, [], 'the input has the unknown field "item": it may have capacities, items'],
    [{ ...empty, items: [{ id: 'a', value: 1 }] }, [], 'items[0] has no "uses": it must have one'],
    [
      { ...empty, items: [{ id: 'a', value: -1, uses: {} }] },
      [],
      'items[0].value is -1: it must be a number from 0',
    ],
    [
      '{"capacities":{"w":1},"items":[{"id":"a","value":NaN,"uses":{}}]}',
      [],
      'items[0].value is "NaN": it must be a number',
    ],
    [
      { ...empty, items: [{ id: 'a', value: 1, uses: { wieght: 2 } }] },
      [],
      'items[0].uses has the unknown field "wieght"',
    ],
    [
      { ...empty, items: [{ id: 'a', value: 1, uses: {}, required: 1 }] },
      [],
      'items[0].required is 1: it must be true or false',
    ],
    [
      { ...empty, items: [0, 0].map(() => ({ id: 'a', value: 1, uses: {} })) },
      [],
      'items[1].id is "a", like items[0].id: it must be unique',
    ],
    [empty, ['-duration', 'long'], 'option -duration is "long": it must be a number from 0.1 to 43200'],
    [empty, ['-seed', '1.5'], 'option -seed is "1.5": it must be a whole number from 0'],
    [empty, ['-speed', '1'], 'option "-speed" is unknown: the options are -duration, -seed, -search.share'],
    [empty, ['-seed'], 'option -seed has no value: it takes a number'],
  ])('refuses %j %j with one sentence', async (input, args, message) => {
    const { code, stdout, stderr } = await run(input, args);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });
});
