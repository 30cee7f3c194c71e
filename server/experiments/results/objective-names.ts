/** Finds the objective of an indicator. Separate from the validation, because worker threads load this module. */
import type { Objective } from '@switchyard/contract/experiments/experiment-results.ts';
import { listIndicatorNames } from '../../runs/results/indicators.ts';

/** Indexes the objectives by every name of their indicator. An objective with exactly that name takes precedence. */
export function indexObjectivesByName(
  objectives: Readonly<Record<string, Objective>>,
): Map<string, Objective> {
  const entries = Object.entries(objectives);
  const byName = new Map(entries);
  for (const [path, objective] of entries)
    for (const name of listIndicatorNames(path)) if (!byName.has(name)) byName.set(name, objective);
  return byName;
}
