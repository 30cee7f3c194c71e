/** Formats definitions and runs of ensembles as API bodies. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { ChildRun, Ensemble, EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import { listHiddenOptions } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { type EnsembleDefinition, parseRulesResult } from '../../runs/run-columns.ts';
import { listChildRuns } from '../../runs/store/ensemble-runs.ts';
import type { RunsTable } from '../../runs/store/schema.ts';
import { listRequestedChildRuns, parseEnsembleDefinition } from './definition.ts';
import { findInstanceExecutable } from './instance-executables.ts';
import type { EnsemblesTable } from './schema.ts';
import { collectOutcomes } from './select-best-run.ts';

/** Formats the definition without the options that are hidden from the role. */
export function formatEnsemble(
  db: Reader,
  application: ApplicationsTable,
  row: EnsemblesTable,
  role: Role,
): Promise<Ensemble> {
  return formatVisible(new HiddenOptions(db, application, role), application, row);
}

/** Formats the definitions as `formatEnsemble` does, but reads each instance only once. */
export async function formatEnsembles(
  db: Reader,
  application: ApplicationsTable,
  rows: readonly EnsemblesTable[],
  role: Role,
): Promise<Ensemble[]> {
  const hidden = new HiddenOptions(db, application, role);
  const bodies: Ensemble[] = [];
  for (const row of rows) bodies.push(await formatVisible(hidden, application, row));
  return bodies;
}

async function formatVisible(
  hidden: HiddenOptions,
  application: ApplicationsTable,
  row: EnsemblesTable,
): Promise<Ensemble> {
  const { run_groups, rules } = parseEnsembleDefinition(row);
  const groups: Ensemble['run_groups'] = [];
  for (const group of run_groups) {
    const names = await hidden.listNames(group.instance_id);
    const options = Object.entries(group.options).filter(([name]) => !names.has(name));
    groups.push({ ...group, options: Object.fromEntries(options) });
  }
  return {
    id: row.id,
    application_id: application.id,
    name: row.name,
    description: row.description,
    run_groups: groups,
    rules,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** Finds the options that the apps of run groups hide from a role. Reads each instance once. */
class HiddenOptions {
  readonly #db: Reader;
  readonly #application: ApplicationsTable;
  readonly #role: Role;
  readonly #byInstance = new Map<string, ReadonlySet<string>>();

  constructor(db: Reader, application: ApplicationsTable, role: Role) {
    this.#db = db;
    this.#application = application;
    this.#role = role;
  }

  /** Lists the hidden options of the instance's app. */
  async listNames(instanceId: string): Promise<ReadonlySet<string>> {
    const cached = this.#byInstance.get(instanceId);
    if (cached) return cached;
    const names = await this.#readNames(instanceId);
    this.#byInstance.set(instanceId, names);
    return names;
  }

  async #readNames(instanceId: string): Promise<ReadonlySet<string>> {
    const executable = await findInstanceExecutable(this.#db, this.#application, instanceId);
    if (executable) return listHiddenOptions(executable, this.#role);
    // The instance was deleted; the active executable is the closest substitute.
    const { active_executable_id: active } = this.#application;
    return listHiddenOptions(
      active === null ? undefined : await findExecutable(this.#db, active),
      this.#role,
    );
  }
}

/** Formats an ensemble run with the child runs that exist, and the result of the rules after the end. */
export async function formatEnsembleRun(
  db: Reader,
  run: RunsTable,
  definition: EnsembleDefinition,
): Promise<EnsembleRun> {
  const children = await listChildRuns(db, run.id);
  const outcomes = collectOutcomes(definition, children, new Map());
  const rules_result = parseRulesResult(run);
  return {
    id: run.id,
    account_id: run.account_id,
    application_id: run.application_id,
    status_v2: run.status,
    error: run.error,
    evaluation_type: 'rules',
    definition_id: (run.definition_id ?? '') as EnsembleId,
    requested_runs: listRequestedChildRuns(definition).length,
    child_runs: outcomes.flatMap(formatChildRun),
    ...(rules_result === null ? {} : { rules_result }),
  };
}

/** Returns an empty array for a child run that does not exist yet. */
function formatChildRun({ requestedRun, child }: ReturnType<typeof collectOutcomes>[number]): ChildRun[] {
  if (child === null) return [];
  return [
    {
      id: child.id,
      run_group_id: requestedRun.runGroupId,
      repetition: requestedRun.repetition,
      application_instance_id: child.instance_id,
      application_version_id: child.version_id,
      status_v2: child.status,
      error: child.error,
    },
  ];
}
