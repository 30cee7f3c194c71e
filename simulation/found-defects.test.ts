/** Plans that broke a promise of the server once. Each is as the simulation shrank it, with the seed that found it. */
import { expect, test } from 'vitest';
import type { Step } from './load/step.ts';
import { findViolations } from './process/find-violations.ts';

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
