/** Operations on managed inputs. */
import type { InputId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockApplication } from '../../apps/applications/store.ts';
import { ContentRemovedError } from '../../platform/blobs/contents.ts';
import {
  badRequest,
  notFound,
  orThrow,
  type Problem,
  quoteValue,
} from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { prefersRepresentation } from '../../platform/http/requests/prefer-header.ts';
import { makeId } from '../../platform/random.ts';
import { formatInput } from './format-input.ts';
import { contentRemovedProblem, readInputSource } from './input-source.ts';
import type { InputsTable } from './schema.ts';
import * as store from './store.ts';

export const createInput: OperationHandler<'createInput'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const { content, ...source } = await readInputSource(context, application, body);
  const now = clock.now();
  const id = body.id ?? makeId<InputId>(random, 'input');
  const row: InputsTable = {
    application_uid: application.uid,
    id,
    name: body.name ?? id,
    description: body.description ?? '',
    ...source,
    content_id: content.id,
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (!(await store.insertInput(tx, row)))
      throw badRequest(
        `id is ${quoteValue(id)}, which another input of the application has; choose another.`,
      );
    await content.insert(tx).catch((error: unknown) => {
      throw error instanceof ContentRemovedError ? contentRemovedProblem(row) : error;
    });
    return { status: 201, body: formatInput(context, application, row) };
  });
};

export const listInputs: OperationHandler<'listInputs'> = async (context, { caller, params, query }) => {
  const { database, pageTokens, log } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  return respondWithList(
    { pageTokens, log },
    {
      tokenScope: `inputs ${application.uid}`,
      query,
      queryRows: (page) => store.listInputs(database.read, application.uid, page),
      formatBodies: (rows) => rows.map((row) => formatInput(context, application, row)),
    },
  );
};

export const getInput: OperationHandler<'getInput'> = async (context, { caller, params }) => {
  const { database } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const row = await store.findInput(database.read, application.uid, params.input_id);
  if (!row) throw inputNotFound(application, params.input_id);
  return { status: 200, body: formatInput(context, application, row) };
};

export const updateInput: OperationHandler<'updateInput'> = async (
  context,
  { caller, params, body, headers, commit },
) => {
  const { database, clock } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const changes = {
    ...(typeof body.name === 'string' ? { name: body.name } : {}),
    ...(typeof body.description === 'string' ? { description: body.description } : {}),
  };
  return commit(async (tx) => {
    const { updated_at } = orThrow(await store.lockInput(tx, application.uid, params.input_id), () =>
      inputNotFound(application, params.input_id),
    );
    requireUnchanged({ noun: `input ${quoteValue(params.input_id)}`, updatedAt: updated_at }, body);
    const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), { updated_at }) };
    const changed = orThrow(await store.updateInput(tx, application.uid, params.input_id, dated), () =>
      inputNotFound(application, params.input_id),
    );
    if (!prefersRepresentation(headers)) return { status: 204 };
    return {
      status: 200,
      body: formatInput(context, application, changed),
      headers: { 'preference-applied': 'return=representation' },
    };
  });
};

export const deleteInput: OperationHandler<'deleteInput'> = async (
  { database, contents },
  { caller, params, commitThen },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return commitThen(
    async (tx) => {
      const content = await store.deleteInput(tx, application.uid, params.input_id);
      if (content === undefined) throw inputNotFound(application, params.input_id);
      return contents.remove(tx, [content]);
    },
    async (blobs) => {
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  );
};

function inputNotFound(application: ApplicationsTable, id: InputId): Problem {
  return notFound(`There is no input ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
}
