/** Claims runs for a worker of any kind. */
import { formatAttemptKey } from '@switchyard/worker/execute/job.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { lockTableOrName } from '../../platform/database/row-locks.ts';
import type { ClaimRequest } from '../queue/claim-request.ts';
import { claimRuns } from '../queue/claim-runs.ts';
import { listLeasedRuns } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';

/** A claim of a remote worker: it has the keys of the attempts that the worker knows (formatAttemptKey). */
interface WorkerClaim extends ClaimRequest {
  known?: ReadonlySet<string>;
}

/** Claims runs, and notifies the listeners to starts. It does not wait for the disk: after a power cut the runs are queued again. */
export async function claimForWorker(database: Database, claim: WorkerClaim): Promise<RunsTable[]> {
  const { known, ...request } = claim;
  const claimed = await database.transact(
    async (tx) => {
      const taken = known === undefined ? 0 : await countUnknown(tx, request, known);
      return taken < request.limit ? claimRuns(tx, { ...request, limit: request.limit - taken }) : [];
    },
    { durable: false },
  );
  if (claimed.length > 0) database.notify('runs-started');
  return claimed;
}

/**
 * Counts the slots of attempts that the worker does not know: their response is under way, or was lost. Syncs of a worker overlap,
 * also on several servers, and each names the slots that were free when it was sent; so one claim follows the other.
 */
async function countUnknown(
  tx: Writer,
  { workerId, classes }: ClaimRequest,
  known: ReadonlySet<string>,
): Promise<number> {
  await lockTableOrName(tx, { name: `claims of ${workerId}` });
  const leased = await listLeasedRuns(tx, workerId);
  return leased.filter(
    (run) =>
      run.slot_released_at === null &&
      classes.includes(run.execution_class) &&
      !known.has(formatAttemptKey(run)),
  ).length;
}
