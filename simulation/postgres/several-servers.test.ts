/** Several servers on one PostgreSQL: a seed replays, and some seeds break no promise. */
import { afterAll, expect, test } from 'vitest';
import { drawPlan, type Plan } from '../load/plan.ts';
import { SimulatorPool } from '../process/pool.ts';

const SEEDS = 3;
/** The two processes with their PostgreSQL use a core each. */
const pools = [1, 2].map(() => new SimulatorPool({ database: 'postgres', processes: 1 }));
const [pool, other] = pools as [SimulatorPool, SimulatorPool];
afterAll(() => {
  for (const one of pools) one.close();
});

const drawShort = (seed: number): Plan => {
  const plan = drawPlan(String(seed), 'postgres');
  return { ...plan, steps: plan.steps.filter(({ at }) => at < 10_000) };
};

test('a seed replays statement by statement, in another process and after another seed', async () => {
  const [first] = await Promise.all([pool.run(drawShort(1)), other.run(drawShort(2))]);
  const second = await other.run(drawShort(1));
  expect(first.events).toBeGreaterThan(500);
  expect(second.trace).toBe(first.trace);
});

test('seeds break no promise', async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => 11 + index);
  const reports = await Promise.all(
    seeds.map((seed, index) => (index % 2 === 0 ? pool : other).run(drawShort(seed))),
  );
  const broken = reports.flatMap(({ violations }, index) =>
    violations.map((one) => ({ seed: seeds[index], ...one })),
  );
  expect(broken).toEqual([]);
});

test('two servers give a worker with overlapping syncs no more runs than it has slots', async () => {
  const { violations } = await pool.run(drawPlan('4', 'postgres'));
  expect(violations).toEqual([]);
});
