/** Names of the indicator of an objective. Separate from the validation, because worker threads load it. */
import type { Objective } from '@switchyard/contract/experiments/experiment-results.ts';
import { listIndicatorNames } from '../../runs/results/indicators.ts';

/** Objectives by every name that their indicator may have; one given for exactly that name comes first. */
export function indexObjectivesByName(
  objectives: Readonly<Record<string, Objective>>,
): Map<string, Objective> {
  const given = Object.entries(objectives);
  const byName = new Map(given);
  for (const [path, objective] of given)
    for (const name of listIndicatorNames(path)) if (!byName.has(name)) byName.set(name, objective);
  return byName;
}
