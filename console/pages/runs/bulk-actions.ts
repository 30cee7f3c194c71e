/** Actions on several runs. The API has one request for each run. */
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { createDraft } from '../new-run/draft.ts';
import { newRunQuery } from '../new-run/queries.ts';
import { planRequest, sendRequest } from '../new-run/request.ts';

const CONCURRENT_REQUESTS = 4;

/** Calls the action for each run. Throws after the last if any was refused, with the number and the first reason. */
async function callForEach(
  runs: readonly string[],
  action: (run: string) => Promise<unknown>,
): Promise<void> {
  const waiting = [...runs];
  const refusals: unknown[] = [];
  const work = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift())
      await action(run).catch((error: unknown) => refusals.push(error));
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  if (refusals.length > 0)
    throw new Error(`${refusals.length} of ${runs.length} runs: ${describeError(refusals[0])}`);
}

/** Cancels the runs; those that have ended stay unchanged. Throws as `callForEach` does. */
export function cancelRuns(application: string, runs: readonly string[]): Promise<void> {
  return callForEach(runs, (run) =>
    client.call('cancelRun', { params: { application_id: application, run_id: run } }),
  );
}

/** Deletes the runs. Throws as `callForEach` does. */
export function deleteRuns(application: string, runs: readonly string[]): Promise<void> {
  return callForEach(runs, (run) =>
    client.call('deleteRun', { params: { application_id: application, run_id: run } }),
  );
}

/** Creates a run with the instance, options and input of each run, as the form of a new run does. Throws as `callForEach` does. */
export function runAgain(application: string, runs: readonly string[]): Promise<void> {
  return callForEach(runs, async (from) => {
    const data = await queryClient.fetchQuery(newRunQuery(application, { from }));
    await sendRequest(planRequest(createDraft(data), data));
  });
}
