/** Status changes of experiments on their way to webhooks. A row exists from the change until its deliveries are enqueued. */
import type { ExperimentInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { Reader, Writer } from '../../database/database.ts';
import type { ExperimentEventsTable, ExperimentsTable } from './schema.ts';

/** Stores the status of the experiment as an event, in the transaction that writes the status. Without a listener it does nothing. */
export async function insertExperimentEvent(tx: Writer, experiment: ExperimentsTable): Promise<void> {
  const { account_id } = experiment;
  const listener = await tx
    .selectFrom('run_listeners')
    .select('account_id')
    .where('account_id', '=', account_id)
    .executeTakeFirst();
  if (!listener) return;
  const data = JSON.stringify(formatExperimentInfo(experiment));
  await tx.insertInto('experiment_events').values({ account_id, data, at: experiment.updated_at }).execute();
}

function formatExperimentInfo(experiment: ExperimentsTable): ExperimentInfo {
  const { id, application_id, type, name, description, status, user_email, created_at, updated_at } =
    experiment;
  return {
    id,
    application_id,
    type,
    name,
    description,
    status,
    user_email,
    created_at: formatRfc3339(created_at),
    updated_at: formatRfc3339(updated_at),
  };
}

/** Lists the stored events, oldest first. */
export function listExperimentEvents(db: Reader, limit: number): Promise<ExperimentEventsTable[]> {
  return db.selectFrom('experiment_events').selectAll().orderBy('seq').limit(limit).execute();
}

/** Removes the event, in the transaction that enqueues its deliveries; returns false when another process has done so. */
export async function claimExperimentEvent(
  tx: Writer,
  { seq }: Pick<ExperimentEventsTable, 'seq'>,
): Promise<boolean> {
  const result = await tx.deleteFrom('experiment_events').where('seq', '=', seq).executeTakeFirst();
  return result.numDeletedRows === 1n;
}
