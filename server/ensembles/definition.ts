/** What a definition may say. Pure. */

import { ENSEMBLE_RUNS_MAX, OPTIONS_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { EnsembleCreate, EnsembleRule, RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { badRequest, quoteValue } from '../http/errors/problem.ts';
import {
  type DeclaredOptions,
  NO_DECLARED_OPTIONS,
  stringifyOptions,
  validateOptionNames,
  validateOptions,
} from '../instances/rules.ts';

/** What a run of an ensemble follows, as it is kept. */
export interface EnsembleDefinition {
  run_groups: RunGroup[];
  rules: EnsembleRule[];
}

/** The definition that the request gives, or the 400 that names what is wrong with it; `declared` is by instance. */
export function parseEnsembleRequest(
  body: EnsembleCreate,
  declared: ReadonlyMap<string, DeclaredOptions>,
): EnsembleDefinition {
  const runGroups = body.run_groups.map((group, at): RunGroup => {
    const field = `run_groups.${at}.options`;
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
  const rules = body.rules.map((rule, at): EnsembleRule => {
    if (parseIndicatorName(rule.statistics_path) === '')
      throw badRequest(
        `rules.${at}.statistics_path is ${quoteValue(rule.statistics_path)}; it must name an indicator, such as "result.value".`,
      );
    // 1e999 is a number of JSON, and none of ours.
    if (rule.tolerance && !Number.isFinite(rule.tolerance.value))
      throw badRequest(
        `rules.${at}.tolerance.value is larger than any number can be here; give one of at most ${Number.MAX_VALUE}.`,
      );
    return {
      id: rule.id,
      statistics_path: rule.statistics_path,
      objective: rule.objective,
      tolerance: rule.tolerance ?? { type: 'absolute', value: 0 },
      index: rule.index,
    };
  });
  refuseTwice('run_groups', 'id', runGroups);
  refuseTwice('rules', 'id', rules);
  refuseTwice('rules', 'index', rules);
  // Each list of definitions shows them all.
  const chars = JSON.stringify(runGroups.map((group) => group.options)).length;
  if (chars > OPTIONS_CHARS_MAX)
    throw badRequest(
      `run_groups have options of ${chars} characters, written as JSON; all groups together may have ${OPTIONS_CHARS_MAX}.`,
    );
  const runs = runGroups.reduce((sum, group) => sum + group.repetitions, 0);
  if (runs > ENSEMBLE_RUNS_MAX)
    throw badRequest(
      `run_groups ask for ${runs} runs, the repetitions of all groups added; an ensemble may have ${ENSEMBLE_RUNS_MAX}.`,
    );
  return { run_groups: runGroups, rules };
}

function refuseTwice<K extends string>(list: string, field: K, items: readonly Record<K, unknown>[]): void {
  const first = new Map<unknown, number>();
  for (const [at, item] of items.entries()) {
    const before = first.get(item[field]);
    if (before !== undefined)
      throw badRequest(
        `${list}.${at}.${field} is ${quoteValue(item[field])}, which ${list}.${before} has too; each must have its own.`,
      );
    first.set(item[field], at);
  }
}

/** What the run itself needs of the definition: the options are with the runs that get them. */
export function omitOptions({ run_groups, rules }: EnsembleDefinition): EnsembleDefinition {
  return { run_groups: run_groups.map((group) => ({ ...group, options: {} })), rules };
}

/** The name of the indicator that a path means, with or without `$.` before it. */
export function parseIndicatorName(path: string): string {
  return path.startsWith('$.') ? path.slice(2) : path;
}

/** One run that a definition wants. */
export interface RequestedChildRun {
  runGroupId: string;
  repetition: number;
  group: RunGroup;
}

/** The runs that a definition wants, in the order of groups and repetitions: where one stands in it is its position. */
export function listRequestedChildRuns({ run_groups }: EnsembleDefinition): RequestedChildRun[] {
  return run_groups.flatMap((group) =>
    Array.from({ length: group.repetitions }, (_, repetition) => ({
      runGroupId: group.id,
      repetition,
      group,
    })),
  );
}
