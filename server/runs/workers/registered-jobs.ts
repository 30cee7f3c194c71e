/** Statements on the jobs of a cluster whose worker has registered. */
import type { Reader, Writer } from '../../platform/database/database.ts';

const RETENTION_MS = 24 * 60 * 60 * 1000;

/** Records that the worker of a job has registered, and removes the records of a day ago. */
export async function recordRegisteredJob(tx: Writer, jobId: string, now: number): Promise<void> {
  await tx
    .deleteFrom('registered_jobs')
    .where('registered_at', '<=', now - RETENTION_MS)
    .execute();
  await tx
    .insertInto('registered_jobs')
    .values({ job_id: jobId, registered_at: now })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet({ registered_at: now }))
    .execute();
}

/** Lists the jobs whose worker has registered within the last day. */
export async function listRegisteredJobs(db: Reader): Promise<string[]> {
  const rows = await db.selectFrom('registered_jobs').select('job_id').execute();
  return rows.map((row) => row.job_id);
}
