/** Operations on tags of runs. */
import { getApplication } from '../../apps/applications/store.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { getOwnRun } from '../api/own-run.ts';
import * as store from './store.ts';

export const getRunTags: OperationHandler<'getRunTags'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  return { status: 200, body: { tags: await store.listTags(context.database.read, run.id) } };
};

export const setRunTags: OperationHandler<'setRunTags'> = async (
  context,
  { caller, params, body, commit },
) => {
  const run = await getOwnRun(context, caller, params);
  const tags = [...new Set(body.tags)].sort();
  return commit(async (tx) => {
    if ((await store.lockRuns(tx, [run.id])).length === 0)
      throw notFound(`There is no run ${quoteValue(run.id)}; it was deleted meanwhile.`);
    await store.replaceTags(tx, run, tags);
    return { status: 200, body: { tags } };
  });
};

export const listTags: OperationHandler<'listTags'> = async ({ database }, { caller, params }) => {
  const { uid } = await getApplication(database.read, caller.account, params.application_id);
  return { status: 200, body: { tags: await store.listTagsOfApplication(database.readInOrder, uid) } };
};
