/** The operations on ensembles. */
import type {
  ChildRun,
  Ensemble,
  EnsembleRun,
  RulesResult,
  RunGroup,
} from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { ApplicationId, EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import { listHiddenOptions } from '../applications/executable.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { getApplication, lockApplication, lockLiveApplication } from '../applications/store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { badRequest, notFound, orThrow, Problem, quoteValue } from '../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../http/handlers/handler.ts';
import { respondWithListObject } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { parseTimeWindow } from '../http/lists/time-window.ts';
import { validateName } from '../http/requests/resource-names.ts';
import {
  type DeclaredOptions,
  isReservedInstanceId,
  NO_DECLARED_OPTIONS,
  readDeclaredOptions,
} from '../instances/rules.ts';
import { findInstance } from '../instances/store.ts';
import { makeId, type Random } from '../random.ts';
import { listChildRuns } from '../runs/store/ensemble-runs.ts';
import { findRun } from '../runs/store/runs.ts';
import type { RunsTable } from '../runs/store/schema.ts';
import { resolveInstance } from '../runs/submit/resolve-instance.ts';
import { type EnsembleDefinition, listRequestedChildRuns, parseEnsembleRequest } from './definition.ts';
import type { EnsemblesTable } from './schema.ts';
import { collectOutcomes } from './select-best-run.ts';
import { deleteEnsemble, findEnsemble, insertEnsemble, listEnsembles, updateEnsemble } from './store.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
}

type EnsembleOperation =
  | 'createEnsemble'
  | 'listEnsembles'
  | 'getEnsemble'
  | 'updateEnsemble'
  | 'deleteEnsemble'
  | 'getRunEnsemble';

export function ensembleHandlers(parts: Parts): HandlersFor<EnsembleOperation> {
  const { database, pageTokens, clock, random } = parts;

  const getOwn = (caller: Caller, id: ApplicationId) => getApplication(database.read, caller.account, id);
  const missing = (application: ApplicationsTable, id: EnsembleId) =>
    notFound(`There is no ensemble ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const shownTo = async (
    caller: Caller,
    application: ApplicationsTable,
    rows: readonly EnsemblesTable[],
  ): Promise<Ensemble[]> => {
    const hidden = new Hidden(database, application, caller);
    const bodies: Ensemble[] = [];
    for (const row of rows) bodies.push(await bodyOf(application, row, hidden));
    return bodies;
  };
  const one = async (caller: Caller, application: ApplicationsTable, row: EnsemblesTable) =>
    bodyOf(application, row, new Hidden(database, application, caller));

  return {
    async createEnsemble({ caller, params, body, remember }) {
      const application = await getOwn(caller, params.application_id);
      validateName(body.name, body.id);
      const declared = await declaredByInstance(database, application, body.run_groups, caller.role);
      const definition = parseEnsembleRequest(body, declared);
      const now = clock.now();
      const row: EnsemblesTable = {
        uid: makeId<string>(random, 'ensemble'),
        application_uid: application.uid,
        id: body.id,
        name: body.name,
        description: body.description ?? '',
        definition: JSON.stringify(definition),
        created_at: now,
        updated_at: now,
      };
      const answer = { status: 201 as const, body: await one(caller, application, row) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockApplication(tx, application);
        if (!(await insertEnsemble(tx, row)))
          throw badRequest(
            `id is ${quoteValue(row.id)}, which another ensemble of the application has; choose another.`,
          );
      });
      return answer;
    },

    async listEnsembles({ caller, params, query }) {
      const application = await getOwn(caller, params.application_id);
      // A definition is used for years: none is too old to be listed.
      const window = parseTimeWindow(query, clock.now(), Number.POSITIVE_INFINITY);
      return respondWithListObject(pageTokens, {
        tokenScope: `ensembles ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`,
        query,
        queryRows: (page) => listEnsembles(database.read, application.uid, window, page),
        formatBodies: (rows) => shownTo(caller, application, rows),
      });
    },

    async getEnsemble({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const row = await findEnsemble(database.read, application.uid, params.ensemble_id);
      if (!row) throw missing(application, params.ensemble_id);
      return { status: 200, body: await one(caller, application, row) };
    },

    async updateEnsemble({ caller, params, body }) {
      const application = await getOwn(caller, params.application_id);
      validateName(body.name, params.ensemble_id);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
      };
      const row = await database.transact(async (tx) => {
        await lockLiveApplication(tx, application);
        const before = await findEnsemble(tx, application.uid, params.ensemble_id);
        if (before && Object.keys(changes).length === 0) return before;
        const now = clock.now();
        const after =
          before && (await updateEnsemble(tx, application.uid, before.id, { ...changes, updated_at: now }));
        return orThrow(after, () => missing(application, params.ensemble_id));
      });
      return { status: 200, body: await one(caller, application, row) };
    },

    async deleteEnsemble({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const { ensemble_id } = params;
      await database.transact(async (tx) => {
        if (!(await deleteEnsemble(tx, application.uid, ensemble_id)))
          throw missing(application, ensemble_id);
      });
      return { status: 204 };
    },

    async getRunEnsemble({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const run = await findRun(database.read, application.uid, params.run_id);
      if (!run)
        throw notFound(
          `There is no run ${quoteValue(params.run_id)} of application ${quoteValue(application.id)}.`,
        );
      if (run.ensemble === null)
        throw notFound(`The run ${quoteValue(run.id)} is of the type ${run.run_type}; it is no ensemble.`);
      return {
        status: 200,
        body: await runBodyOf(database, run, JSON.parse(run.ensemble) as EnsembleDefinition),
      };
    },
  };
}

/**
 * The options that the app of each run group declares, by instance; throws the 400 for an instance that is not there.
 * Whether it can be run is checked when it is to be: one that cannot declares nothing.
 */
async function declaredByInstance(
  database: Database,
  application: ApplicationsTable,
  groups: readonly Pick<RunGroup, 'instance_id'>[],
  role: Caller['role'],
): Promise<Map<string, DeclaredOptions>> {
  const declared = new Map<string, DeclaredOptions>();
  for (const [at, { instance_id }] of groups.entries()) {
    if (declared.has(instance_id)) continue;
    if (
      !isReservedInstanceId(instance_id) &&
      !(await findInstance(database.read, application.uid, instance_id))
    )
      throw badRequest(
        `run_groups.${at}.instance_id is ${quoteValue(instance_id)}; it must be an instance of the application ${quoteValue(application.id)}, or latest.`,
      );
    const executable = await executableOf(database, application, instance_id);
    declared.set(instance_id, executable ? readDeclaredOptions(executable, role) : NO_DECLARED_OPTIONS);
  }
  return declared;
}

/** The executable that the instance runs now; null when it cannot be run. */
async function executableOf(
  database: Database,
  application: ApplicationsTable,
  instanceId: string,
): Promise<ExecutablesTable | null> {
  try {
    return (await resolveInstance(database.read, application, instanceId)).executable;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** What an answer to one caller leaves out: options of run groups that the apps they run hide from the role. */
class Hidden {
  readonly #database: Database;
  readonly #application: ApplicationsTable;
  readonly #role: Caller['role'];
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(database: Database, application: ApplicationsTable, { role }: Caller) {
    this.#database = database;
    this.#application = application;
    this.#role = role;
  }

  async in(instanceId: string): Promise<ReadonlySet<string>> {
    const known = this.#known.get(instanceId);
    if (known) return known;
    const hidden = await this.#look(instanceId);
    this.#known.set(instanceId, hidden);
    return hidden;
  }

  async #look(instanceId: string): Promise<ReadonlySet<string>> {
    const executable = await executableOf(this.#database, this.#application, instanceId);
    if (executable) return listHiddenOptions(executable, this.#role);
    // The instance is gone by now; what the app hides today is the best there is to go by.
    const { active_executable_id: active } = this.#application;
    const { read } = this.#database;
    return listHiddenOptions(active === null ? undefined : await findExecutable(read, active), this.#role);
  }
}

async function bodyOf(
  application: ApplicationsTable,
  row: EnsemblesTable,
  hidden: Hidden,
): Promise<Ensemble> {
  const { run_groups, rules } = JSON.parse(row.definition) as EnsembleDefinition;
  const groups: Ensemble['run_groups'] = [];
  for (const group of run_groups) {
    const names = await hidden.in(group.instance_id);
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

async function runBodyOf(
  database: Database,
  run: RunsTable,
  definition: EnsembleDefinition,
): Promise<EnsembleRun> {
  const children = await listChildRuns(database.read, run.id);
  const child_runs = collectOutcomes(definition, children, new Map()).flatMap(
    ({ requestedRun: seat, child }): ChildRun[] =>
      child === null
        ? []
        : [
            {
              id: child.id,
              run_group_id: seat.runGroupId,
              repetition: seat.repetition,
              application_instance_id: child.instance_id,
              application_version_id: child.version_id,
              status_v2: child.status,
              error: child.error,
            },
          ],
  );
  return {
    id: run.id,
    account_id: run.account_id,
    application_id: run.application_id,
    status_v2: run.status,
    error: run.error,
    evaluation_type: 'rules',
    definition_id: (run.definition_id ?? '') as EnsembleId,
    requested_runs: listRequestedChildRuns(definition).length,
    child_runs,
    ...(run.rules_result === null ? {} : { rules_result: JSON.parse(run.rules_result) as RulesResult }),
  };
}
