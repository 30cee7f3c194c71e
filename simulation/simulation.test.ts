/** The simulation itself: it replays byte for byte, finds a planted defect and shrinks its plan; and some seeds pass. */
import { afterAll, expect, test } from 'vitest';
import { findDefect } from './defects/find-defect.ts';
import { PLANTED_DEFECTS } from './defects/planted.ts';
import { drawPlan } from './load/plan.ts';
import { SimulatorPool } from './process/pool.ts';

const SEEDS = 160;

const pool = new SimulatorPool();
afterAll(() => pool.close());

test('a seed replays byte for byte, in another process and after another seed', async () => {
  const other = new SimulatorPool({ processes: 1 });
  try {
    await other.run(drawPlan('2'));
    // The second one has statistics of many runs, which a thread computes on a real server.
    for (const plan of [drawPlan('1'), drawPlan('157')]) {
      const [first, second] = await Promise.all([pool.run(plan), other.run(plan)]);
      expect(first.events).toBeGreaterThan(500);
      expect(second.trace).toBe(first.trace);
    }
  } finally {
    other.close();
  }
});

test('seeds break no promise', async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => String(index + 1));
  const reports = await Promise.all(seeds.map((seed) => pool.run(drawPlan(seed))));
  const broken = reports.flatMap(({ violations }, index) =>
    violations.map((one) => ({ seed: seeds[index], ...one })),
  );
  expect(broken).toEqual([]);
});

test('a planted defect is found, and its plan shrunk and replayed', async () => {
  const [defect] = PLANTED_DEFECTS.filter(({ name }) => name === 'a deletion has no audit entry');
  if (!defect) throw new Error('The defect is not planted.');
  const { plan, promise, isReplayed, stepsBefore } = await findDefect(defect, { seedsMax: 30, triesMax: 40 });
  expect(promise).toBe('an acknowledged change is in the audit log');
  expect(plan?.steps.length).toBeLessThan(stepsBefore);
  expect(isReplayed).toBe(true);
});
