/** Statements on the tables of the provisioner. */
import type { Selectable } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { ProvisionerStateTable, WorkerJobsTable } from './schema.ts';

export type WorkerJob = Selectable<WorkerJobsTable>;
export type ProvisionerState = Omit<Selectable<ProvisionerStateTable>, 'one'>;

const INITIAL_STATE: ProvisionerState = {
  failures: 0,
  failed_starts: 0,
  retry_at: null,
  last_error: null,
  last_error_at: null,
  unservable_runs: 0,
  listed_at: null,
};

/** Lists the jobs of all adapters, oldest first. */
export function listJobs(db: Reader): Promise<WorkerJob[]> {
  return db.selectFrom('worker_jobs').selectAll().orderBy('requested_at').orderBy('name').execute();
}

export async function upsertJobs(tx: Writer, jobs: readonly WorkerJob[]): Promise<void> {
  for (const job of jobs) {
    const { name: _, ...columns } = job;
    await tx
      .insertInto('worker_jobs')
      .values(job)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
      .execute();
  }
}

/** Restarts the time without a listing: a list that failed says nothing about the jobs. */
export async function clearMissing(tx: Writer): Promise<void> {
  await tx
    .updateTable('worker_jobs')
    .set({ missing_since: null })
    .where('missing_since', 'is not', null)
    .execute();
}

export async function deleteJobs(tx: Writer, names: readonly string[]): Promise<void> {
  if (names.length > 0) await tx.deleteFrom('worker_jobs').where('name', 'in', names).execute();
}

/** Deletes the jobs of other adapters: their workers leave by themselves once they are idle. */
export async function deleteOtherJobs(tx: Writer, adapter: string): Promise<void> {
  await tx.deleteFrom('worker_jobs').where('adapter', '!=', adapter).execute();
}

/** Returns what the last run of the provisioner found; the state of a new server before the first. */
export async function readState(db: Reader): Promise<ProvisionerState> {
  const row = await db.selectFrom('provisioner_state').selectAll().executeTakeFirst();
  if (!row) return INITIAL_STATE;
  const { one: _, ...state } = row;
  return state;
}

export async function writeState(tx: Writer, state: ProvisionerState): Promise<void> {
  await tx
    .insertInto('provisioner_state')
    .values({ one: 1, ...state })
    .onConflict((conflict) => conflict.column('one').doUpdateSet(state))
    .execute();
}
