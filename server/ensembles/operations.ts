/** The operations on ensembles. */
import type {
  ChildRun,
  Ensemble,
  EnsembleRun,
  RulesResult,
  RunGroup,
} from '@switchyard/contract/ensemble-shapes.ts';
import type { ApplicationId, EnsembleId } from '@switchyard/contract/ids.ts';
import { hiddenOptions } from '../applications/executable.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { checkApplication, getApplication, holdApplication } from '../applications/store.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Caller, HandlersOf } from '../http/handler.ts';
import { answerListObject } from '../http/lists.ts';
import { checkName } from '../http/names.ts';
import type { PageTokens } from '../http/paging.ts';
import { badRequest, notFound, Problem, present, shown } from '../http/problem.ts';
import { windowOf } from '../http/window.ts';
import {
  type DeclaredOptions,
  declaredOptions,
  isReserved,
  NO_DECLARED_OPTIONS,
} from '../instances/rules.ts';
import { findInstance } from '../instances/store.ts';
import { makeId, type Random } from '../random.ts';
import { listMembers } from '../runs/ensemble-runs.ts';
import { resolveInstance } from '../runs/resolve.ts';
import type { RunsTable } from '../runs/schema.ts';
import { findRun } from '../runs/store.ts';
import { outcomesOf } from './choose.ts';
import { type Definition, definitionOf, seatsOf } from './rules.ts';
import type { EnsemblesTable } from './schema.ts';
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

export function ensembleHandlers(parts: Parts): HandlersOf<EnsembleOperation> {
  const { database, pageTokens, clock, random } = parts;

  const getOwn = (caller: Caller, id: ApplicationId) => getApplication(database.read, caller.account, id);
  const missing = (application: ApplicationsTable, id: EnsembleId) =>
    notFound(`There is no ensemble ${shown(id)} of application ${shown(application.id)}.`);
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
      checkName(body.name, body.id);
      const declared = await declaredByInstance(database, application, body.run_groups, caller.role);
      const definition = definitionOf(body, declared);
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
        await holdApplication(tx, application);
        if (!(await insertEnsemble(tx, row)))
          throw badRequest(
            `id is ${shown(row.id)}, which another ensemble of the application has; choose another.`,
          );
      });
      return answer;
    },

    async listEnsembles({ caller, params, query }) {
      const application = await getOwn(caller, params.application_id);
      // A definition is used for years: none is too old to be listed.
      const window = windowOf(query, clock.now(), Number.POSITIVE_INFINITY);
      return answerListObject(pageTokens, {
        list: `ensembles ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`,
        query,
        rows: (page) => listEnsembles(database.read, application.uid, window, page),
        bodies: (rows) => shownTo(caller, application, rows),
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
      checkName(body.name, params.ensemble_id);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
      };
      const row = await database.transact(async (tx) => {
        await checkApplication(tx, application);
        const before = await findEnsemble(tx, application.uid, params.ensemble_id);
        if (before && Object.keys(changes).length === 0) return before;
        const now = clock.now();
        const after =
          before && (await updateEnsemble(tx, application.uid, before.id, { ...changes, updated_at: now }));
        return present(after, () => missing(application, params.ensemble_id));
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
        throw notFound(`There is no run ${shown(params.run_id)} of application ${shown(application.id)}.`);
      if (run.ensemble === null)
        throw notFound(`The run ${shown(run.id)} is of the type ${run.run_type}; it is no ensemble.`);
      return { status: 200, body: await runBodyOf(database, run, JSON.parse(run.ensemble) as Definition) };
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
    if (!isReserved(instance_id) && !(await findInstance(database.read, application.uid, instance_id)))
      throw badRequest(
        `run_groups.${at}.instance_id is ${shown(instance_id)}; it must be an instance of the application ${shown(application.id)}, or latest.`,
      );
    const executable = await executableOf(database, application, instance_id);
    declared.set(instance_id, executable ? declaredOptions(executable, role) : NO_DECLARED_OPTIONS);
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
    if (executable) return hiddenOptions(executable, this.#role);
    // The instance is gone by now; what the app hides today is the best there is to go by.
    const { active_executable_id: active } = this.#application;
    const { read } = this.#database;
    return hiddenOptions(active === null ? undefined : await findExecutable(read, active), this.#role);
  }
}

async function bodyOf(
  application: ApplicationsTable,
  row: EnsemblesTable,
  hidden: Hidden,
): Promise<Ensemble> {
  const { run_groups, rules } = JSON.parse(row.definition) as Definition;
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
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
  };
}

async function runBodyOf(database: Database, run: RunsTable, definition: Definition): Promise<EnsembleRun> {
  const children = await listMembers(database.read, run.id);
  const child_runs = outcomesOf(definition, children, new Map()).flatMap(({ seat, child }): ChildRun[] =>
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
    requested_runs: seatsOf(definition).length,
    child_runs,
    ...(run.rules_result === null ? {} : { rules_result: JSON.parse(run.rules_result) as RulesResult }),
  };
}
