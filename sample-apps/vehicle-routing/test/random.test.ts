/**
 * Random inputs with all features mixed. Tiny ones against every plan there is; larger ones against the judge, which
 * recomputes each route from the raw input.
 */
import { expect, it } from 'vitest';
import { findBestPlan } from './exhaustive-search.ts';
import { randomInput } from './random-input.ts';
import { mandatoryWeight, solve, valueWithoutMandatory } from './run-app.ts';

it('finds the best plan of tiny inputs, whatever is mixed', () => {
  const wrong: string[] = [];
  for (let seed = 1; seed <= 120; seed++) {
    const input = randomInput(seed, 2 + (seed % 4), 1 + (seed % 2));
    const output = solve(input, 4000);
    const best = findBestPlan(input);
    const found = { mandatory: mandatoryWeight(input, output), cost: valueWithoutMandatory(output) };
    const close = Math.abs(found.cost - best.cost) < 1e-3;
    if (found.mandatory !== best.mandatory || !close)
      wrong.push(`seed ${seed}: ${JSON.stringify({ found, best })}`);
  }
  expect(wrong).toEqual([]);
});

it('breaks no rule and misstates no figure on larger inputs', () => {
  let planned = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const output = solve(randomInput(1000 + seed, 20 + (seed % 30), 2 + (seed % 5)), 400);
    planned += output.statistics.result.custom.stops_planned;
  }
  // The inputs are tight, but most of their stops can be served.
  expect(planned).toBeGreaterThan(60 * 15);
});
