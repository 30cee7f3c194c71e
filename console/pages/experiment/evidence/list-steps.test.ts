/** Empirical distribution functions. */

import type { PairedRun } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { buildPairedRun } from '@switchyard/contract/experiments/presentation/testing/build-paired-run.ts';
import { expect, test } from 'vitest';
import { findShare, listGroupSteps, listSteps } from './list-steps.ts';

test('a distribution rises by one input at each value, and equal values are one step', () => {
  const steps = listSteps([30, 10, 20, 20]);
  expect(steps).toEqual([
    { x: 10, share: 0.25 },
    { x: 20, share: 0.75 },
    { x: 30, share: 1 },
  ]);
  expect([9, 10, 25, 40].map((x) => findShare(steps, x))).toEqual([0, 0.25, 0.75, 1]);
});

test('repetitions of an input count as their mean, and an input that failed keeps the function below 1', () => {
  const runs = [
    buildPairedRun('new', 'a', 10),
    buildPairedRun('new', 'a', 20),
    buildPairedRun('new', 'b', 30),
    buildPairedRun('new', 'c', null),
    buildPairedRun('new', 'd', 40),
    buildPairedRun('old', 'a', 1),
  ];
  const source = { runs, indicator: 'result.value', readInput: ({ input_id }: PairedRun) => input_id ?? '' };
  expect(listGroupSteps(source, { instance_id: 'new', version_id: 'v1' })).toEqual([
    { x: 15, share: 0.25 },
    { x: 30, share: 0.5 },
    { x: 40, share: 0.75 },
  ]);
});
