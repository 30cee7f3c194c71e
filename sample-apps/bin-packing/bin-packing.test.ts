/** Runs the app as the platform does: a process of its own, JSON in, JSON out. The checker here shares no code with it. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = dirname(fileURLToPath(import.meta.url));

interface RawBin {
  id: string;
  capacity: number;
  cost: number;
  quantity?: number;
  max_items?: number;
}
interface RawItem {
  id: string;
  size: number;
}
interface RawInput {
  bins: RawBin[];
  items: RawItem[];
  incompatibilities?: string[][];
}
interface UsedBin {
  type: string;
  cost: number;
  load: number;
  items: string[];
}
interface Output {
  options: Record<string, number>;
  solution: { status: string; reasons: string[]; bins: UsedBin[] };
  statistics: {
    schema: string;
    result: { value?: number; custom: { bins: number; bound: number; rounds: number; nodes: number } };
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
    const child = spawn(process.execPath, ['main.ts', ...args], {
      cwd: folder,
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    });
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

/** Every broken rule of a packing, in words. */
function violations(input: RawInput, bins: readonly UsedBin[]): string[] {
  const found: string[] = [];
  const packed = bins.flatMap((bin) => bin.items);
  const ids = input.items.map((item) => item.id);
  if ([...packed].sort().join() !== [...ids].sort().join()) found.push('not every item is in one bin');
  for (const { id, capacity, cost, quantity, max_items } of input.bins) {
    const own = bins.filter((bin) => bin.type === id);
    if (own.length > (quantity ?? Infinity)) found.push(`${own.length} bins of type ${id}`);
    for (const bin of own) {
      const load = input.items.reduce((sum, item) => sum + (bin.items.includes(item.id) ? item.size : 0), 0);
      if (load > capacity + 1e-6) found.push(`${bin.items.join('+')} is ${load}`);
      if (Math.abs(load - bin.load) > 1e-6 || bin.cost !== cost)
        found.push(`${bin.items.join('+')} misstated`);
      if (bin.items.length > (max_items ?? Infinity)) found.push(`${bin.items.join('+')} are too many`);
      for (const pair of input.incompatibilities ?? []) {
        if (pair.every((item) => bin.items.includes(item))) found.push(`${pair.join('+')} share a bin`);
      }
    }
  }
  if (bins.some((bin) => !input.bins.some(({ id }) => id === bin.type)))
    found.push('a type that does not exist');
  return found;
}

function sumCosts(bins: readonly UsedBin[]): number {
  return bins.reduce((sum, bin) => sum + bin.cost, 0);
}

/** The least cost over all ways to split the items and to give each part a bin, or null when there is none. */
function exhaustiveOptimum(input: RawInput): number | null {
  let best: number | null = null;
  const price = (groups: RawItem[][], index: number, used: Map<string, number>, cost: number): void => {
    const group = groups[index];
    if (!group) {
      best = Math.min(best ?? Infinity, cost);
      return;
    }
    const load = group.reduce((sum, item) => sum + item.size, 0);
    for (const bin of input.bins) {
      const count = used.get(bin.id) ?? 0;
      if (load > bin.capacity || group.length > (bin.max_items ?? Infinity)) continue;
      if (count >= (bin.quantity ?? Infinity)) continue;
      price(groups, index + 1, new Map(used).set(bin.id, count + 1), cost + bin.cost);
    }
  };
  const clash = (a: RawItem, b: RawItem) =>
    (input.incompatibilities ?? []).some((pair) => pair.includes(a.id) && pair.includes(b.id));
  const split = (index: number, groups: RawItem[][]): void => {
    const item = input.items[index];
    if (!item) {
      price(groups, 0, new Map(), 0);
      return;
    }
    for (const group of [...groups, []]) {
      if (group.some((other) => clash(item, other))) continue;
      split(index + 1, [...groups.filter((other) => other !== group), [...group, item]]);
    }
  };
  split(0, []);
  return best;
}

function randomInput(seed: number, size: number): RawInput {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  for (let warm = 0; warm < 5; warm += 1) below(2);
  const items = Array.from({ length: size }, (_, index) => ({ id: `i${index}`, size: 5 + below(45) }));
  const bins = Array.from({ length: 1 + below(3) }, (_, index) => ({
    id: `b${index}`,
    capacity: 40 + 25 * index,
    cost: 10 + below(25),
    ...(below(3) === 0 ? { quantity: 1 + below(3) } : {}),
    ...(below(3) === 0 ? { max_items: 2 + below(2) } : {}),
  }));
  const incompatibilities = Array.from({ length: below(6) }, () => {
    const first = below(size);
    return [`i${first}`, `i${(first + 1 + below(size - 1)) % size}`];
  });
  return { bins, items, incompatibilities };
}

async function example(name: string): Promise<RawInput> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as RawInput;
}

describe('bin packing', () => {
  it('finds what an exhaustive search finds, and says infeasible where that finds nothing', async () => {
    const inputs = Array.from({ length: 8 }, (_, index) => randomInput(300 + 41 * index, 4 + (index % 4)));
    const optima = inputs.map(exhaustiveOptimum);
    expect(optima).toContain(null);
    expect(optima.filter((optimum) => optimum !== null).length).toBeGreaterThan(4);
    for (const [index, input] of inputs.entries()) {
      const { solution, statistics } = await solve(input);
      const optimum = optima[index] ?? null;
      if (optimum === null) {
        expect(solution.status).toBe('infeasible');
        expect(solution.reasons).not.toEqual([]);
        expect(statistics.result).not.toHaveProperty('value');
      } else {
        expect(solution.status).toBe('optimal');
        expect(violations(input, solution.bins)).toEqual([]);
        expect(statistics.result.value).toBeCloseTo(optimum, 6);
        expect(sumCosts(solution.bins)).toBeCloseTo(optimum, 6);
        expect(statistics.result.custom.bound).toBeCloseTo(optimum, 4);
      }
    }
  });

  it('proves by the exact model what the heuristic alone cannot', async () => {
    // Three pairs that must not meet leave a ring of six in which no three can share a bin: three bins of two.
    const cycle = Array.from({ length: 6 }, (_, index) => `i${index}`);
    const input: RawInput = {
      bins: [{ id: 'b', capacity: 30, cost: 1 }],
      items: cycle.map((id) => ({ id, size: 10 })),
      incompatibilities: cycle.map((id, index) => [id, cycle[(index + 1) % 6] ?? '']).concat([['i0', 'i2']]),
    };
    const optimum = exhaustiveOptimum(input);
    const alone = await solve(input, ['-exact.columns', '0', '-duration', '1']);
    const exact = await solve(input);
    expect(exact.solution.status).toBe('optimal');
    expect(exact.statistics.result.value).toBe(optimum);
    expect(alone.statistics.result.value).toBe(optimum);
    expect(alone.statistics.result.custom.bound).toBeLessThanOrEqual(optimum ?? 0);
  });

  it.each([
    ['input.json', '120', ['optimal']],
    ['input-large.json', '3', ['feasible', 'optimal']],
  ])('keeps every rule on %s and reports its true cost', async (name, duration, statuses) => {
    const input = await example(name);
    const { solution, statistics, options } = await solve(input, ['-duration', duration, '-seed', '3']);
    expect(options).toMatchObject({ duration: Number(duration), seed: 3 });
    expect(statuses).toContain(solution.status);
    expect(violations(input, solution.bins)).toEqual([]);
    expect(statistics.schema).toBe('v1');
    expect(statistics.result.value).toBeCloseTo(sumCosts(solution.bins), 6);
    expect(statistics.result.custom.bins).toBe(solution.bins.length);
    expect(statistics.result.custom.bound ?? 0).toBeLessThanOrEqual(sumCosts(solution.bins));
    const values = statistics.series_data.value.data_points.map((point) => point.y);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(values.at(-1)).toBeCloseTo(sumCosts(solution.bins), 6);
  });

  it('keeps every rule on random problems of some size, and its bound stays below', async () => {
    for (const seed of [1, 3]) {
      const input = randomInput(9000 + seed, 30 + 10 * seed);
      for (const bin of input.bins) delete bin.quantity;
      input.bins.push({ id: 'huge', capacity: 130, cost: 60 });
      const { solution, statistics } = await solve(input, ['-duration', '1']);
      expect(violations(input, solution.bins)).toEqual([]);
      expect(statistics.result.custom.bound ?? 0).toBeLessThanOrEqual((statistics.result.value ?? 0) + 1e-6);
    }
  });

  it.each([
    [
      { bins: [{ id: 'b', capacity: 5, cost: 1 }], items: [{ id: 'i', size: 6 }] },
      'item "i" of size 6 is larger than every bin',
    ],
    [
      {
        bins: [{ id: 'b', capacity: 5, cost: 1, quantity: 1 }],
        items: ['i', 'j'].map((id) => ({ id, size: 3 })),
      },
      'all bins together do not hold all items',
    ],
    [
      {
        bins: [{ id: 'b', capacity: 9, cost: 1, quantity: 2 }],
        items: ['i', 'j', 'k', 'l', 'm'].map((id) => ({ id, size: 1 })),
        incompatibilities: ['ij', 'jk', 'kl', 'lm', 'mi'].map((pair) => [...pair]),
      },
      'the items do not fit into the bins that there are',
    ],
  ])('says why there is no packing of %j', async (input, reason) => {
    const { solution } = await solve(input, ['-duration', '120', '-heuristic.share', '0.01']);
    expect(solution.status).toBe('infeasible');
    expect(solution.reasons[0]).toContain(reason);
    expect(solution.bins).toEqual([]);
  });

  it('takes a problem without items as solved', async () => {
    const { solution, statistics } = await solve({ bins: [], items: [] });
    expect(solution).toEqual({ status: 'optimal', reasons: [], bins: [] });
    expect(statistics.result.value).toBe(0);
  });

  it('ends with the best packing so far on SIGTERM, also when it comes twice', async () => {
    const input = await example('input-large.json');
    const ended = await run(input, ['-duration', '600'], (pid) => {
      process.kill(pid, 'SIGTERM');
      process.kill(pid, 'SIGTERM');
    });
    expect(ended.code).toBe(0);
    const { solution } = JSON.parse(ended.stdout) as Output;
    expect(['feasible', 'optimal']).toContain(solution.status);
    expect(violations(input, solution.bins)).toEqual([]);
  });

  const sound = { bins: [{ id: 'b', capacity: 5, cost: 1 }], items: [{ id: 'i', size: 2 }] };
  it.each([
    ['', [], 'standard input is empty: it must hold one JSON object'],
    ['{]', [], 'standard input is not JSON'],
    [{ bins: [] }, [], 'items is missing: it must be a list'],
    [{ ...sound, pairs: [] }, [], 'the input has the unknown field "pairs"'],
    [
      { ...sound, bins: [{ id: 'b', capacity: '5', cost: 1 }] },
      [],
      'bins[0].capacity is "5": it must be a number from 0',
    ],
    [
      { ...sound, bins: [{ id: 'b', capacity: 5, cost: 1, max_items: 0 }] },
      [],
      'bins[0].max_items is 0: it must be a whole number from 1',
    ],
    [{ ...sound, items: [{ id: 'i', size: -1 }] }, [], 'items[0].size is -1: it must be a number from 0'],
    [
      { ...sound, items: [...sound.items, ...sound.items] },
      [],
      'items[1] is "i", like items[0]: it must be unique',
    ],
    [
      { ...sound, incompatibilities: [['i', 'x']] },
      [],
      'incompatibilities[0][1] is "x": it must be the id of an item',
    ],
    [
      { ...sound, incompatibilities: [['i', 'i']] },
      [],
      'incompatibilities[0] is ["i","i"]: it must be a pair of two different items',
    ],
    [sound, ['-seed', '0.5'], 'option -seed is "0.5": it must be a whole number from 0'],
    [sound, ['-speed', '1'], 'option "-speed" is unknown: the options are -duration, -gap, -seed'],
  ])('refuses %j %j with one sentence', async (input, args, message) => {
    const { code, stdout, stderr } = await run(input, args);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  it.each(['mip.ts', 'mip-worker.ts', 'options.ts', 'json-parsing.ts', 'statistics.ts'])(
    'has the same %s as the shift-scheduling app: each folder is complete, and neither copy drifts',
    async (name) => {
      const [own, other] = await Promise.all(
        [folder, join(folder, '../shift-scheduling')].map((place) => readFile(join(place, name), 'utf8')),
      );
      expect(own).toBe(other);
    },
  );
});
