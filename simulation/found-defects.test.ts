/** Plans that broke a promise of the server once. Each is as the simulation shrank it, with the seed that found it. */
import { afterAll, expect, test } from 'vitest';
import type { Plan } from './load/plan.ts';
import type { Step } from './load/step.ts';
import type { Violation } from './model/ledger.ts';
import { SimulatorPool } from './process/pool.ts';

const pool = new SimulatorPool({ processes: 1 });
afterAll(() => pool.close());

const findViolations = async (plan: Plan): Promise<Violation[]> => (await pool.run(plan)).violations;

test('a run whose deletion a power cut undid, after its worker had reported its end, is executed again (seed 33)', async () => {
  const steps: Step[] = [
    { id: 3, at: 2734, do: 'crashWorker', worker: 3 },
    {
      ...{ id: 4, at: 2917, do: 'createRun', account: 1, instance: 'urgent', priority: 0, twice: true },
      ...{ end: 'success', ms: 2100 },
    },
    { id: 5, at: 4650, do: 'failSyncs', forMs: 3086 },
    { id: 6, at: 4932, do: 'deleteRun', of: 4 },
    {
      ...{ id: 9, at: 6930, do: 'createRun', account: 2, instance: 'gpu', priority: 0, twice: false },
      ...{ end: 'memory', ms: 53_492 },
    },
    {
      ...{ id: 10, at: 7442, do: 'createRun', account: 2, instance: 'greedy', priority: 6, twice: false },
      ...{ end: 'success', ms: 1173 },
    },
    { id: 11, at: 7674, do: 'cutPower' },
    { id: 12, at: 8087, do: 'crashWorker', worker: 0 },
  ];
  expect(await findViolations({ seed: '33', steps })).toEqual([]);
});

test('a full disk is the reason of each request whose transaction it rolled back (seed 39)', async () => {
  const steps: Step[] = [
    { id: 4, at: 372, do: 'fullDisk', forMs: 169_081, pages: 0 },
    { id: 7, at: 636, do: 'runEnsemble', account: 2, ms: 1000, end: 'success' },
    {
      ...{ id: 9, at: 773, do: 'createRun', account: 0, instance: 'main', priority: 0, twice: false },
      ...{ end: 'success', ms: 1000 },
    },
    { id: 19, at: 1933, do: 'setLicenses', account: 1, total: 0 },
  ];
  expect(await findViolations({ seed: '39.10', steps })).toEqual([]);
});

test('a worker waits for work as long as before once the server is back after its end', async () => {
  const steps: Step[] = [
    { id: 1, at: 2000, do: 'killServer' },
    { id: 2, at: 8000, do: 'killServer' },
    { id: 3, at: 300_000, do: 'listRuns', account: 0 },
  ];
  // 9254 events with a wait that each end of the server halved.
  expect((await pool.run({ seed: '24', steps })).events).toBeLessThan(5000);
});

test('a worker whose syncs overlap gets no more runs than it has slots (seed 13)', async () => {
  const steps: Step[] = [{ id: 3, at: 110, do: 'createBatch', account: 0, repetitions: 2 }];
  expect(await findViolations({ seed: '13', steps })).toEqual([]);
});

test('a run that nobody canceled is queued again after a power cut repeated the fencing token of its attempt (seed 13)', async () => {
  const steps: Step[] = [
    { id: 1, at: 21981, do: 'killServer' },
    { id: 2, at: 22079, do: 'crashWorker', worker: 2 },
    { id: 3, at: 26731, do: 'killServer' },
    { id: 4, at: 28347, do: 'createShadow', account: 2, runs: 3 },
    {
      id: 5,
      at: 43728,
      do: 'createRun',
      account: 0,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 1465,
    },
    {
      id: 6,
      at: 47466,
      do: 'createRun',
      account: 2,
      instance: 'gpu',
      priority: 6,
      twice: false,
      end: 'success',
      ms: 10452,
    },
    { id: 7, at: 53177, do: 'useKey', account: 0, ms: 7571 },
    { id: 8, at: 73016, do: 'killServer' },
    {
      id: 9,
      at: 76099,
      do: 'createRun',
      account: 2,
      instance: 'greedy',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 1821,
    },
    {
      id: 10,
      at: 105342,
      do: 'createRun',
      account: 0,
      instance: 'greedy',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 35068,
    },
    { id: 11, at: 121352, do: 'endServerAtAnswer', answers: 6, byPower: true },
    {
      id: 12,
      at: 138638,
      do: 'createRun',
      account: 0,
      instance: 'greedy',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 56433,
    },
    {
      id: 13,
      at: 152959,
      do: 'createRun',
      account: 0,
      instance: 'urgent',
      priority: 9,
      twice: false,
      end: 'host-memory',
      ms: 1136,
    },
    { id: 14, at: 161461, do: 'setQuotas', account: 2, runs: 1, ofApplication: false },
    { id: 15, at: 178415, do: 'crashWorker', worker: 3 },
    { id: 16, at: 201612, do: 'restartServer' },
    { id: 17, at: 279308, do: 'slowBlobs', forMs: 87692, factor: 10658 },
    {
      id: 18,
      at: 295647,
      do: 'createRun',
      account: 0,
      instance: 'main',
      priority: 4,
      twice: false,
      end: 'endless',
      ms: 27674,
    },
    {
      id: 19,
      at: 308535,
      do: 'createRun',
      account: 2,
      instance: 'main',
      priority: 5,
      twice: false,
      end: 'success',
      ms: 12227,
    },
    { id: 20, at: 361510, do: 'cutPower' },
    { id: 21, at: 393868, do: 'changeForeignRun', of: 5, deletes: true },
    {
      id: 22,
      at: 400924,
      do: 'createRun',
      account: 2,
      instance: 'licensed',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 34397,
    },
    { id: 23, at: 476248, do: 'cutPower' },
    { id: 24, at: 482724, do: 'changeForeignRun', of: 22, deletes: false },
    { id: 25, at: 578517, do: 'deleteRun', of: 13 },
    {
      id: 26,
      at: 583675,
      do: 'createRun',
      account: 2,
      instance: 'licensed',
      priority: 1,
      twice: false,
      end: 'success',
      ms: 4654,
    },
  ];
  expect(await findViolations({ seed: '13', steps })).toEqual([]);
});

test('an event is not sent before its deliveries are on the disk, under an id that a power cut takes back (seed 8)', async () => {
  const steps: Step[] = [
    { id: 1, at: 100, do: 'slowDisk', forMs: 60000, factor: 307 },
    {
      id: 6,
      at: 820,
      do: 'createRun',
      account: 1,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 655,
    },
    {
      id: 2,
      at: 2492,
      do: 'createRun',
      account: 2,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 1224,
    },
    {
      id: 5,
      at: 3318,
      do: 'createRun',
      account: 1,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 1216,
    },
    {
      id: 4,
      at: 3629,
      do: 'createRun',
      account: 0,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 32,
    },
    {
      id: 3,
      at: 5153,
      do: 'createRun',
      account: 1,
      instance: 'main',
      priority: 0,
      twice: false,
      end: 'success',
      ms: 486,
    },
    { id: 10, at: 7315, do: 'cutPower' },
    { id: 8, at: 9054, do: 'cutPower' },
    { id: 7, at: 12125, do: 'cutPower' },
    { id: 9, at: 13234, do: 'cutPower' },
  ];
  expect(await findViolations({ seed: '10', steps })).toEqual([]);
});
