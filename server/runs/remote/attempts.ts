/** The attempts that remote workers execute. A worker reaches no attempt but its own, and none whose lease has expired. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import { RUNNING, type RunsTable } from '../store/schema.ts';

/** The place of an attempt in the paths of the protocol. */
export interface AttemptParams {
  worker_id: string;
  run_id: RunId;
  fence: string;
}

interface LeaseKey {
  workerId: string;
  runId: RunId;
  fence: number;
}

const selectLeasedRun = prepareStatement((db, { workerId, runId, fence }: LeaseKey) =>
  db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', runId)
    .where('fence', '=', fence)
    .where('worker_id', '=', workerId)
    .where('status', '=', RUNNING),
);

/** Returns the run of an attempt whose lease the worker holds; undefined otherwise. */
export async function findLeasedRun(
  db: Reader,
  { worker_id, run_id, fence }: AttemptParams,
): Promise<RunsTable | undefined> {
  const [run] = await selectLeasedRun(db, { workerId: worker_id, runId: run_id, fence: Number(fence) });
  return run;
}

/** Returns the run of an attempt; throws a 404 when the worker does not hold its lease. */
export async function getLeasedRun(db: Reader, params: AttemptParams): Promise<RunsTable> {
  const run = await findLeasedRun(db, params);
  if (run) return run;
  throw notFound(
    `The worker ${quoteValue(params.worker_id)} does not hold the lease ${params.fence} on the run ${quoteValue(params.run_id)}. End its app.`,
  );
}

/** Lists the running runs of the worker among the ids. */
export async function listRunsOfWorker(
  db: Reader,
  workerId: string,
  ids: readonly RunId[],
): Promise<RunsTable[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', ids)
    .where('worker_id', '=', workerId)
    .where('status', '=', RUNNING)
    .execute();
}
