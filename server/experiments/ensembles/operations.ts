/** Handlers of the operations on ensembles. */
import type { ApplicationId, EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import {
  badRequest,
  notFound,
  orThrow,
  type Problem,
  quoteValue,
} from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithListObject } from '../../platform/http/lists/list-responses.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { parseEnsemble } from '../../runs/run-columns.ts';
import { findRun } from '../../runs/store/runs.ts';
import { parseEnsembleRequest } from './definition.ts';
import { formatEnsemble, formatEnsembleRun, formatEnsembles } from './format-ensemble.ts';
import { readDeclaredByInstance } from './instance-executables.ts';
import type { EnsemblesTable } from './schema.ts';
import * as store from './store.ts';

export const createEnsemble: OperationHandler<'createEnsemble'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getOwnApplication(context, caller, params.application_id);
  validateName(body.name, body.id);
  const declared = await readDeclaredByInstance(database.read, application, body.run_groups, caller.role);
  const definition = parseEnsembleRequest(body, declared, readMeaning(application).objective);
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
  const ensemble = await formatEnsemble(database.read, application, row, caller.role);
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (!(await store.insertEnsemble(tx, row)))
      throw badRequest(
        `id is ${quoteValue(row.id)}, which another ensemble of the application has; choose another.`,
      );
    return { status: 201, body: ensemble };
  });
};

export const listEnsembles: OperationHandler<'listEnsembles'> = async (
  context,
  { caller, params, query },
) => {
  const { database, pageTokens, log, clock } = context;
  const application = await getOwnApplication(context, caller, params.application_id);
  // A definition is used for years, so the list has no default start.
  const window = parseTimeWindow(query, clock.now(), Number.POSITIVE_INFINITY);
  return respondWithListObject(
    { pageTokens, log },
    {
      tokenScope: `ensembles ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`,
      query,
      queryRows: (page) => store.listEnsembles(database.read, application.uid, window, page),
      formatBodies: (rows) => formatEnsembles(database.read, application, rows, caller.role),
    },
  );
};

export const getEnsemble: OperationHandler<'getEnsemble'> = async (context, { caller, params }) => {
  const { read } = context.database;
  const application = await getOwnApplication(context, caller, params.application_id);
  const row = await store.findEnsemble(read, application.uid, params.ensemble_id);
  if (!row) throw ensembleNotFound(application, params.ensemble_id);
  return { status: 200, body: await formatEnsemble(read, application, row, caller.role) };
};

export const updateEnsemble: OperationHandler<'updateEnsemble'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const { database, clock } = context;
  const application = await getOwnApplication(context, caller, params.application_id);
  validateName(body.name, params.ensemble_id);
  const changes = {
    ...(typeof body.name === 'string' ? { name: body.name } : {}),
    ...(typeof body.description === 'string' ? { description: body.description } : {}),
  };
  return commitThen(
    async (tx) => {
      await lockLiveApplication(tx, application);
      const before = await store.lockEnsemble(tx, application, params.ensemble_id);
      if (before)
        requireUnchanged({ noun: `ensemble ${quoteValue(before.id)}`, updatedAt: before.updated_at }, body);
      if (before && Object.keys(changes).length === 0) return before;
      const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), before ?? { updated_at: 0 }) };
      const after = before && (await store.updateEnsemble(tx, application.uid, before.id, dated));
      return orThrow(after, () => ensembleNotFound(application, params.ensemble_id));
    },
    async (row) => ({
      status: 200,
      body: await formatEnsemble(database.read, application, row, caller.role),
    }),
  );
};

export const deleteEnsemble: OperationHandler<'deleteEnsemble'> = async (
  context,
  { caller, params, commit },
) => {
  const application = await getOwnApplication(context, caller, params.application_id);
  return commit(async (tx) => {
    if (!(await store.deleteEnsemble(tx, application.uid, params.ensemble_id)))
      throw ensembleNotFound(application, params.ensemble_id);
    return { status: 204 };
  });
};

export const getRunEnsemble: OperationHandler<'getRunEnsemble'> = async (context, { caller, params }) => {
  const { read } = context.database;
  const application = await getOwnApplication(context, caller, params.application_id);
  const run = await findRun(read, application.uid, params.run_id);
  if (!run)
    throw notFound(
      `There is no run ${quoteValue(params.run_id)} of application ${quoteValue(application.id)}.`,
    );
  const definition = parseEnsemble(run);
  if (definition === null)
    throw notFound(
      `The run ${quoteValue(run.id)} is of the type ${run.run_type}; it is not an ensemble run.`,
    );
  return { status: 200, body: await formatEnsembleRun(read, run, definition) };
};

function getOwnApplication(
  { database }: Pick<Context, 'database'>,
  caller: Caller,
  id: ApplicationId,
): Promise<ApplicationsTable> {
  return getApplication(database.read, caller.account, id);
}

function ensembleNotFound(application: ApplicationsTable, id: EnsembleId): Problem {
  return notFound(`There is no ensemble ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
}
