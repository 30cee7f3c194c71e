/** Helpers for the tests of features: a proof by enumeration of all plans, and builders of tiny inputs. */
import { equal, ok } from 'node:assert/strict';
import { findBestPlan } from './exhaustive-search.ts';
import type { Input } from './plan-checker.ts';
import { mandatoryWeight, type Output, solve, valueWithoutMandatory } from './run-app.ts';

/** Solves, and holds value and mandatory stops against the best plan there is. */
export function solveAndCheckOptimal(input: Input): Output {
  const output = solve(input);
  const best = findBestPlan(input);
  equal(mandatoryWeight(input, output), best.mandatory);
  const value = valueWithoutMandatory(output);
  ok(Math.abs(value - best.cost) < 1e-4, `the value is ${value}, the best of all plans has ${best.cost}`);
  return output;
}

export const depot = { x: 0, y: 0 };
export const depotToDepot = { start: depot, end: depot };
export const point = (x: number, y = 0) => ({ x, y });
export const unplannedIds = (output: Output) => output.solution.unplanned.map(({ id }) => id);
