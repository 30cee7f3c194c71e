/** Claims runs for a worker of any kind. */
import type { Database } from '../../platform/database/database.ts';
import type { ClaimRequest } from '../queue/claim-request.ts';
import { claimRuns } from '../queue/claim-runs.ts';
import type { RunsTable } from '../store/schema.ts';

/** Claims runs, and notifies the listeners to starts. It does not wait for the disk: after a power cut the runs are queued again. */
export async function claimForWorker(database: Database, claim: ClaimRequest): Promise<RunsTable[]> {
  const claimed = await database.transact((tx) => claimRuns(tx, claim), { durable: false });
  if (claimed.length > 0) database.notify('runs-started');
  return claimed;
}
