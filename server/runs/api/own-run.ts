/** Finds the run that the path of a request names. */
import type { ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { reportMissing } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { findRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';

/** Returns the run of the caller's application. Throws a 404 that says which of the two is missing. */
export async function getOwnRun(
  { database }: Pick<Context, 'database'>,
  caller: Caller,
  params: { application_id: ApplicationId; run_id: RunId },
): Promise<RunsTable> {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const run = await findRun(database.read, application.uid, params.run_id);
  if (!run) throw reportMissing('run', params.run_id, application);
  return run;
}
