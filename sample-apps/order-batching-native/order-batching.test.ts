/** Runs the executable as the platform does: a process of its own, JSON in, JSON out. The tours are measured here anew. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = dirname(fileURLToPath(import.meta.url));
const target = `${process.platform}-${process.arch}`;
const executable = join(folder, 'bin', target, 'main');
const hasExecutable = existsSync(executable);
if (!hasExecutable) {
  console.error(
    `\n*** No prebuilt executable for ${target}: the order-batching app was NOT CHECKED here. ***\n`,
  );
}

type Routing = 'shortest' | 's-shape' | 'largest-gap';
interface RawPick {
  aisle: number;
  position: number;
  quantity?: number;
}
interface RawOrder {
  id: string;
  picks: RawPick[];
}
interface RawInput {
  warehouse: { aisles: number; aisle_length: number; aisle_distance: number; depot_aisle?: number };
  capacity: number;
  max_orders?: number;
  orders: RawOrder[];
}
interface Batch {
  orders: string[];
  quantity: number;
  distance: number;
  aisles: number[];
}
interface Output {
  options: { duration: number; seed: number; iterations: number; routing: Routing };
  solution: { status: string; reasons: string[]; batches: Batch[] };
  statistics: {
    schema: string;
    run: { duration: number; iterations: number };
    result: {
      value?: number;
      custom: { status: string; batches: number; batches_minimum: number; bound: number };
    };
    series_data: { value: { data_points: { x: number; y: number }[] } };
  };
}
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The executable alone in an empty folder, as it is after a push. */
let place = '';
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'order-batching-'));
  if (hasExecutable) await copyFile(executable, join(place, 'main'));
});
afterAll(() => rm(place, { recursive: true, force: true }));

function run(input: unknown, args: string[] = [], onFirstLine = (_: number) => {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('./main', args, { cwd: place, env: {} });
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
    const text = typeof input === 'string' || Buffer.isBuffer(input) ? input : JSON.stringify(input);
    child.stdin.end(text);
  });
}

async function solve(input: RawInput, args: string[] = []): Promise<Output> {
  const ended = await run(input, args);
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.stdout) as Output;
}

function sumQuantity(orders: readonly RawOrder[]): number {
  return orders.flatMap((order) => order.picks).reduce((sum, pick) => sum + (pick.quantity ?? 1), 0);
}

/** The walk for some orders by the README's two rules. */
function tourLength({ warehouse }: RawInput, orders: readonly RawOrder[], routing: Routing): number {
  const { aisle_length: length, aisle_distance: apart, depot_aisle: depot = 0 } = warehouse;
  const byAisle = new Map<number, number[]>();
  for (const { aisle, position } of orders.flatMap((order) => order.picks)) {
    byAisle.set(aisle, [...(byAisle.get(aisle) ?? []), position]);
  }
  const aisles = [...byAisle.keys()].sort((a, b) => a - b);
  if (aisles.length === 0) return 0;
  const across = 2 * apart * (Math.max(depot, ...aisles) - Math.min(depot, ...aisles));
  const last = byAisle.get(aisles.at(-1) ?? 0) ?? [];
  const turnaround = 2 * Math.max(...last);
  const sShape = aisles.length % 2 ? (aisles.length - 1) * length + turnaround : aisles.length * length;
  let largestGap = turnaround;
  if (aisles.length > 1) {
    largestGap = 2 * length;
    for (const aisle of aisles.slice(1, -1)) {
      const stops = [0, length, ...(byAisle.get(aisle) ?? [])].sort((a, b) => a - b);
      const gaps = stops.slice(1).map((stop, index) => stop - (stops[index] ?? 0));
      largestGap += 2 * (length - Math.max(...gaps));
    }
  }
  if (routing === 's-shape') return across + sShape;
  if (routing === 'largest-gap') return across + largestGap;
  return across + Math.min(sShape, largestGap);
}

/** Every way in which the batches are wrong, in words. */
function violations(input: RawInput, batches: readonly Batch[], routing: Routing): string[] {
  const found: string[] = [];
  const batched = batches.flatMap((batch) => batch.orders);
  const ids = input.orders.map((order) => order.id);
  if ([...batched].sort().join() !== [...ids].sort().join()) found.push('not every order is in one batch');
  for (const batch of batches) {
    const orders = input.orders.filter((order) => batch.orders.includes(order.id));
    const name = batch.orders.join('+');
    if (sumQuantity(orders) > input.capacity + 1e-6) found.push(`${name} exceeds the capacity`);
    if (orders.length > (input.max_orders ?? Infinity)) found.push(`${name} has too many orders`);
    if (Math.abs(sumQuantity(orders) - batch.quantity) > 1e-6) found.push(`${name} misstates its quantity`);
    const distance = tourLength(input, orders, routing);
    if (Math.abs(distance - batch.distance) > 1e-6) found.push(`${name} is ${distance} long`);
    const aisles = [...new Set(orders.flatMap((order) => order.picks.map((pick) => pick.aisle)))];
    if (aisles.sort((a, b) => a - b).join() !== batch.aisles.join())
      found.push(`${name} misstates its aisles`);
  }
  return found;
}

/** The least total over all ways to split the orders. */
function exhaustiveOptimum(input: RawInput, routing: Routing): number {
  let best = Infinity;
  const extend = (index: number, groups: RawOrder[][]) => {
    const order = input.orders[index];
    if (!order) {
      best = Math.min(
        best,
        groups.reduce((sum, group) => sum + tourLength(input, group, routing), 0),
      );
      return;
    }
    for (const group of [...groups, []]) {
      const grown = [...group, order];
      if (sumQuantity(grown) > input.capacity || grown.length > (input.max_orders ?? Infinity)) continue;
      extend(index + 1, [...groups.filter((other) => other !== group), grown]);
    }
  };
  extend(0, []);
  return best;
}

function randomInput(seed: number, size: number): RawInput {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  const aisles = 1 + below(7);
  const orders = Array.from({ length: size }, (_, index) => ({
    id: `o${index}`,
    picks: Array.from({ length: 1 + below(4) }, () => ({
      aisle: below(aisles),
      position: below(61) / 2,
      ...(below(3) ? { quantity: below(5) } : {}),
    })),
  }));
  return {
    warehouse: { aisles, aisle_length: 30, aisle_distance: 1 + below(9), depot_aisle: below(aisles) },
    capacity: 16 + below(10),
    ...(below(2) ? { max_orders: 2 + below(3) } : {}),
    orders,
  };
}

async function example(name: string): Promise<RawInput> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as RawInput;
}

describe.skipIf(!hasExecutable)('order batching, native', () => {
  it('finds what an exhaustive search finds, for every way to walk', async () => {
    const routings: Routing[] = ['shortest', 's-shape', 'largest-gap'];
    for (let index = 0; index < 18; index += 1) {
      const input = randomInput(700 + 13 * index, 1 + (index % 7));
      const routing = routings[index % 3] ?? 'shortest';
      const { solution, statistics } = await solve(input, ['-routing', routing]);
      const optimum = exhaustiveOptimum(input, routing);
      expect(solution.status).toBe('optimal');
      expect(violations(input, solution.batches, routing)).toEqual([]);
      expect(statistics.result.value).toBeCloseTo(optimum, 6);
      expect(statistics.result.custom.bound).toBeCloseTo(optimum, 6);
    }
  });

  it.each([
    ['input.json', '5', ['optimal']],
    ['input-large.json', '1', ['feasible']],
  ])('keeps every rule on %s and reports its true distance', async (name, duration, statuses) => {
    const input = await example(name);
    const { solution, statistics, options } = await solve(input, ['-duration', duration]);
    expect(options).toEqual({ duration: Number(duration), seed: 1, iterations: 0, routing: 'shortest' });
    expect(statuses).toContain(solution.status);
    expect(violations(input, solution.batches, 'shortest')).toEqual([]);
    expect(statistics.schema).toBe('v1');
    const total = solution.batches.reduce((sum, batch) => sum + batch.distance, 0);
    expect(statistics.result.value).toBeCloseTo(total, 6);
    const { bound, batches, batches_minimum } = statistics.result.custom;
    expect(bound).toBeLessThanOrEqual(total + 1e-6);
    expect(batches).toBe(solution.batches.length);
    expect(batches).toBeGreaterThanOrEqual(batches_minimum);
    const values = statistics.series_data.value.data_points.map((point) => point.y);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(values.at(-1)).toBeCloseTo(total, 6);
    expect(JSON.stringify(statistics).length).toBeLessThan(10_000);
  });

  it('keeps every rule on random problems beyond the exact search, and its bound stays below', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const input = randomInput(50 + seed, 15 + 10 * seed);
      const { solution, statistics } = await solve(input, ['-iterations', '20000']);
      expect(violations(input, solution.batches, 'shortest')).toEqual([]);
      expect(statistics.result.custom.bound).toBeLessThanOrEqual((statistics.result.value ?? 0) + 1e-6);
    }
  });

  it('gives the same batches for the same seed and number of moves', async () => {
    const input = await example('input-large.json');
    const args = ['-iterations', '30000', '-duration', '600', '-seed', '7'];
    const [first, second] = await Promise.all([solve(input, args), solve(input, args)]);
    expect(first.solution).toEqual(second.solution);
    expect(first.statistics.run.iterations).toBe(30000);
  });

  it('measures the example of the README rules by hand', async () => {
    // The aisles have length 10 and are 3 apart, with picks at 4 in the first, 2 and 9 in the second, and 6 in the third.
    // By S-shape a tour is `12 + 20 + 12 = 44`: the way across, two whole aisles, and the third to 6 and back. By largest
    // gap it is `12 + 20 + 6`: the second aisle is walked without the 7 between its picks.
    const input: RawInput = {
      warehouse: { aisles: 3, aisle_length: 10, aisle_distance: 3 },
      capacity: 10,
      orders: [
        {
          id: 'a',
          picks: [
            { aisle: 0, position: 4 },
            { aisle: 1, position: 2 },
          ],
        },
        {
          id: 'b',
          picks: [
            { aisle: 1, position: 9 },
            { aisle: 2, position: 6 },
          ],
        },
      ],
    };
    const lengths = { 's-shape': 44, 'largest-gap': 38, shortest: 38 };
    for (const [routing, length] of Object.entries(lengths)) {
      const { statistics } = await solve(input, ['-routing', routing]);
      expect(statistics.result.value).toBe(length);
    }
  });

  it('names the orders that fit into no batch', async () => {
    const input = randomInput(5, 2);
    const order = { id: 'größe "x"\n\u0001😀', picks: [{ aisle: 0, position: 0, quantity: 99 }] };
    const { solution, statistics } = await solve({
      ...input,
      capacity: 50,
      orders: [...input.orders, order],
    });
    expect(solution.status).toBe('infeasible');
    expect(solution.reasons).toEqual([`order "${order.id}" has a quantity of 99, but the capacity is 50`]);
    expect(solution.batches).toEqual([]);
    expect(statistics.result).not.toHaveProperty('value');
  });

  it('takes a problem without orders as solved', async () => {
    const { solution, statistics } = await solve({ ...randomInput(5, 1), orders: [] });
    expect(solution).toEqual({ status: 'optimal', reasons: [], batches: [] });
    expect(statistics.result.value).toBe(0);
  });

  it('ends with the best batches so far on SIGTERM', async () => {
    const input = await example('input-large.json');
    const ended = await run(input, ['-duration', '600'], (pid) => process.kill(pid, 'SIGTERM'));
    expect(ended.code).toBe(0);
    const { solution } = JSON.parse(ended.stdout) as Output;
    expect(solution.status).toBe('feasible');
    expect(violations(input, solution.batches, 'shortest')).toEqual([]);
  });

  const sound = { warehouse: { aisles: 2, aisle_length: 9, aisle_distance: 3 }, capacity: 5, orders: [] };
  const pick = { aisle: 1, position: 3 };
  it.each([
    ['', [], 'standard input is empty: it must hold one JSON object'],
    ['{"a":', [], 'standard input is not JSON (it ends too early, at byte 5)'],
    [
      '[1 2]',
      [],
      'standard input is not JSON (a comma or the end of a list or object is missing, at byte 3)',
    ],
    ['"\\ud800"', [], 'half of a surrogate pair'],
    ['01', [], 'something follows the value, at byte 1'],
    ['1e999', [], 'a number is malformed or too large'],
    [Buffer.from([0x22, 0xc0, 0x80, 0x22]), [], 'a string is not UTF-8'],
    ['['.repeat(10_000), [], 'nested more than 64 deep'],
    ['3', [], 'the input is 3: it must be an object'],
    [{ ...sound, order: [] }, [], 'the input has the unknown field "order": it may have warehouse, capacity'],
    [{ ...sound, capacity: '5' }, [], 'capacity is "5": it must be a number from 0 to 1000000000'],
    [
      { ...sound, warehouse: { ...sound.warehouse, aisles: 1.5 } },
      [],
      'warehouse.aisles is 1.5: it must be a whole number from 1 to 1000',
    ],
    [
      { ...sound, orders: [{ id: 'a', picks: [] }] },
      [],
      'orders[0].picks is []: it must be a list with at least one pick',
    ],
    [
      { ...sound, orders: [{ id: 'a', picks: [{ ...pick, aisle: 2 }] }] },
      [],
      'orders[0].picks[0].aisle is 2: it must be a whole number from 0 to 1',
    ],
    [
      { ...sound, orders: [{ id: 'a', picks: [{ ...pick, position: 9.5 }] }] },
      [],
      'orders[0].picks[0].position is 9.5: it must be a number from 0 to 9',
    ],
    [
      {
        ...sound,
        orders: [
          { id: 'a', picks: [pick] },
          { id: 'a', picks: [pick] },
        ],
      },
      [],
      'orders[1].id is "a", like orders[0].id: it must be unique',
    ],
    [
      { ...sound, orders: [{ id: '', picks: [pick] }] },
      [],
      'orders[0].id is "": it must be a non-empty string',
    ],
    [{ ...sound, orders: [{ picks: [pick] }] }, [], 'orders[0].id is missing: it must be a non-empty string'],
    [sound, ['-duration', 'soon'], 'option -duration is "soon": it must be a number from 0.1 to 43200'],
    [sound, ['-seed', '-1'], 'option -seed is "-1": it must be a whole number from 0'],
    [
      sound,
      ['-routing', 'optimal'],
      'option -routing is "optimal": it must be shortest, s-shape or largest-gap',
    ],
    [
      sound,
      ['-speed', '1'],
      'option "-speed" is unknown: the options are -duration, -seed, -iterations, -routing',
    ],
    [sound, ['-seed'], 'option -seed has no value: it takes one'],
  ])('refuses %j %j with one sentence', async (input, args, message) => {
    const { code, stdout, stderr } = await run(input, args);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });
});
