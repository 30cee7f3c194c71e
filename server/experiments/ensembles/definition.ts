/** Definitions of ensembles: parsing of a request, limits, and the runs that a definition requests. Pure. */

import type { ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import { ENSEMBLE_RUNS_MAX, OPTIONS_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { EnsembleCreate, EnsembleRule, RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import {
  type DeclaredOptions,
  NO_DECLARED_OPTIONS,
  stringifyOptions,
  validateOptionNames,
  validateOptions,
} from '../../apps/instances/rules.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { EnsembleDefinition } from '../../runs/run-columns.ts';

export const parseEnsembleDefinition = parseColumn('ensembles', 'id', 'definition', EnsembleDefinition);

/**
 * Returns the definition of the request, with defaults filled in. `declared` maps instances to the options that their apps
 * declare; `objective` is that of the application. Throws a 400 that names the first invalid field.
 */
export function parseEnsembleRequest(
  body: EnsembleCreate,
  declared: ReadonlyMap<string, DeclaredOptions>,
  objective: ApplicationObjective | null,
): EnsembleDefinition {
  const runGroups = body.run_groups.map((group, index): RunGroup => {
    const field = `run_groups.${index}.options`;
    const names = Object.keys(group.options ?? {});
    const known = declared.get(group.instance_id) ?? NO_DECLARED_OPTIONS;
    const error = validateOptions(group.options, field) ?? validateOptionNames(names, field, known);
    if (error) throw badRequest(error);
    return {
      id: group.id,
      instance_id: group.instance_id,
      options: stringifyOptions(group.options),
      repetitions: group.repetitions ?? 1,
    };
  });
  const rules = (body.rules ?? createDefaultRules(objective)).map((rule, position): EnsembleRule => {
    if (parseIndicatorName(rule.statistics_path) === '')
      throw badRequest(
        `rules.${position}.statistics_path is ${quoteValue(rule.statistics_path)}; it must name an indicator, such as "result.value".`,
      );
    // JSON.parse reads 1e999 as Infinity.
    if (rule.tolerance && !Number.isFinite(rule.tolerance.value))
      throw badRequest(
        `rules.${position}.tolerance.value is too large for a double-precision number; give at most ${Number.MAX_VALUE}.`,
      );
    return {
      id: rule.id,
      statistics_path: rule.statistics_path,
      objective: rule.objective,
      tolerance: rule.tolerance ?? { type: 'absolute', value: 0 },
      index: rule.index,
    };
  });
  rejectDuplicates('run_groups', 'id', runGroups);
  rejectDuplicates('rules', 'id', rules);
  rejectDuplicates('rules', 'index', rules);
  // Every list of definitions returns all options.
  const chars = JSON.stringify(runGroups.map((group) => group.options)).length;
  if (chars > OPTIONS_CHARS_MAX)
    throw badRequest(
      `run_groups have options of ${chars} characters as JSON, and the limit for all groups together is ${OPTIONS_CHARS_MAX}; shorten them.`,
    );
  const runs = runGroups.reduce((sum, group) => sum + group.repetitions, 0);
  if (runs > ENSEMBLE_RUNS_MAX)
    throw badRequest(
      `run_groups request ${runs} runs, the sum of all repetitions; request at most ${ENSEMBLE_RUNS_MAX}.`,
    );
  return { run_groups: runGroups, rules };
}

function rejectDuplicates<K extends string>(
  list: string,
  field: K,
  items: readonly Record<K, unknown>[],
): void {
  const first = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const earlier = first.get(item[field]);
    if (earlier !== undefined)
      throw badRequest(
        `${list}.${index}.${field} is ${quoteValue(item[field])}, which ${list}.${earlier} also has; each must have its own.`,
      );
    first.set(item[field], index);
  }
}

/** Returns the definition to store with a run: without options, because each child run stores its own. */
export function omitOptions({ run_groups, rules }: EnsembleDefinition): EnsembleDefinition {
  return { run_groups: run_groups.map((group) => ({ ...group, options: {} })), rules };
}

/** Returns the name of the indicator that a path names, with or without a leading `$.`. */
export function parseIndicatorName(path: string): string {
  return path.startsWith('$.') ? path.slice(2) : path;
}

/** One run that a definition requests. */
export interface RequestedChildRun {
  runGroupId: string;
  repetition: number;
  group: RunGroup;
}

/** Lists the runs that a definition requests, by run group and repetition; the index in the list is the run's position. */
export function listRequestedChildRuns({ run_groups }: EnsembleDefinition): RequestedChildRun[] {
  return run_groups.flatMap((group) =>
    Array.from({ length: group.repetitions }, (_, repetition) => ({
      runGroupId: group.id,
      repetition,
      group,
    })),
  );
}

/** Returns the rule of the objective. Throws a 400 without one. */
function createDefaultRules(objective: ApplicationObjective | null): NonNullable<EnsembleCreate['rules']> {
  if (!objective)
    throw badRequest(
      'rules is missing, and the application has no objective; give at least one rule, or set the objective of the application.',
    );
  const { name, direction } = objective;
  return [{ id: 'objective', statistics_path: name, objective: direction, index: 0 }];
}
