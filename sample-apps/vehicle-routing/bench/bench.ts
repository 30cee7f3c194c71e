/**
 * Solves published instances and prints how far from the best known the search is after 10, 30 and 60 seconds, one run
 * for each budget, on one core. Every result is checked by `checker.ts`, which knows the instance and not the solver,
 * and so are the best-known solutions themselves.
 *
 *   node bench/bench.ts [--instances C101,R1_10_1] [--seconds 10,30,60] [--seeds 1,2] [--pyvrp no] [--json]
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildModel } from '../src/search/model.ts';
import { defaultSettings, Search } from '../src/search/search.ts';
import { checkRoutes } from './checker.ts';
import { type Instance, readInstance } from './instances.ts';
import { toProblem } from './problem.ts';
import { installPyvrp, solveWithPyvrp } from './pyvrp.ts';

type Row = {
  instance: string;
  customers: number;
  bestKnown: number;
  solver: string;
  seed: number;
  seconds: number;
  cost: number;
  gap: number;
  iterations: number;
};

const folder = fileURLToPath(new URL('instances/', import.meta.url));

const { values: flags } = parseArgs({
  options: {
    instances: { type: 'string' },
    seconds: { type: 'string', default: '10,30,60' },
    seeds: { type: 'string', default: '1' },
    pyvrp: { type: 'string', default: 'yes' },
    json: { type: 'boolean', default: false },
  },
});

const numbersIn = (flag: string) => flag.split(',').map(Number);

function solve(
  instance: Instance,
  seconds: number,
  seed: number,
): { routes: number[][]; iterations: number } {
  const search = new Search(
    buildModel(toProblem(instance)),
    { ...defaultSettings, duration: seconds, seed },
    () => performance.now() / 1000,
  );
  search.run(Infinity);
  const routes = search.best.routes
    .map((route) => route.map(({ stop }) => stop + 1))
    .filter((route) => route.length > 0);
  return { routes, iterations: search.iteration };
}

/** The cost as the checker counts it; a solution with a fault ends the benchmark. */
function checkedCost(instance: Instance, routes: number[][], what: string): number {
  const { cost, faults } = checkRoutes(instance, routes);
  if (faults.length > 0)
    throw new Error(`${what} of ${instance.name} is not feasible: ${faults.slice(0, 5).join('; ')}`);
  return cost;
}

function measure(instance: Instance, solver: string, run: typeof solve): Row[] {
  const rows: Row[] = [];
  for (const seed of numbersIn(flags.seeds)) {
    for (const seconds of numbersIn(flags.seconds)) {
      const { routes, iterations } = run(instance, seconds, seed);
      const cost = checkedCost(instance, routes, `the solution by ${solver}`);
      const bestKnown = instance.bestKnown.cost;
      const gap = cost / bestKnown - 1;
      rows.push({
        instance: instance.name,
        customers: instance.nodes.length - 1,
        bestKnown,
        solver,
        seed,
        seconds,
        cost,
        gap,
        iterations,
      });
    }
  }
  return rows;
}

function print(rows: Row[]): void {
  const percent = (gap: number) => `${(100 * gap).toFixed(2)} %`;
  for (const row of rows) {
    const cells = [
      row.instance.padEnd(12),
      String(row.customers).padStart(9),
      String(row.bestKnown).padStart(10),
      row.solver.padEnd(10),
      String(row.seed).padStart(4),
      `${row.seconds} s`.padStart(6),
      String(row.cost).padStart(10),
      percent(row.gap).padStart(8),
      String(row.iterations).padStart(10),
    ];
    console.log(cells.join('  '));
  }
}

function main(): void {
  const wanted = flags.instances?.split(',');
  const files = readdirSync(folder).filter((file) => /\.(txt|vrp)$/.test(file));
  const instances = files
    .map((file) => readInstance(folder + file))
    .filter(({ name }) => !wanted || wanted.includes(name))
    .sort((a, b) => a.nodes.length - b.nodes.length);
  for (const instance of instances) {
    const cost = checkedCost(instance, instance.bestKnown.routes, 'the best-known solution');
    if (Math.abs(cost - instance.bestKnown.cost) > 1e-6) {
      throw new Error(
        `The best-known solution of ${instance.name} costs ${cost} by our reading, ${instance.bestKnown.cost} by its file.`,
      );
    }
  }
  const missing = flags.pyvrp === 'no' ? 'it was switched off by --pyvrp no' : installPyvrp();
  if (missing) console.log(`*** SKIPPED: no comparison with PyVRP, because ${missing}. ***`);
  console.log(
    'instance      customers  best known  solver      seed  budget        cost       gap  iterations',
  );
  const all: Row[] = [];
  for (const instance of instances) {
    const ours = measure(instance, 'switchyard', solve);
    print(ours);
    const theirs = missing ? [] : measure(instance, 'PyVRP', solveWithPyvrp);
    print(theirs);
    all.push(...ours, ...theirs);
  }
  if (flags.json) console.log(JSON.stringify(all));
}

main();
