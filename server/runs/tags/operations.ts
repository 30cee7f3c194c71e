/** Operations on tags of runs. */
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { getOwnRun } from '../api/own-run.ts';
import { listTags, lockRuns, replaceTags } from './store.ts';

export const getRunTags: OperationHandler<'getRunTags'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  return { status: 200, body: { tags: await listTags(context.database.read, run.id) } };
};

export const setRunTags: OperationHandler<'setRunTags'> = async (
  context,
  { caller, params, body, commit },
) => {
  const run = await getOwnRun(context, caller, params);
  const tags = [...new Set(body.tags)].sort();
  return commit(async (tx) => {
    if ((await lockRuns(tx, [run.id])).length === 0)
      throw notFound(`There is no run ${quoteValue(run.id)}; it was deleted meanwhile.`);
    await replaceTags(tx, run, tags);
    return { status: 200, body: { tags } };
  });
};
