/** Status changes of experiments on their way to webhooks. A row exists from the change until its deliveries are enqueued. */
import type { ExperimentInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { AcceptanceTestsTable } from './acceptance-schema.ts';
import type { ExperimentEventsTable, ExperimentsTable } from './schema.ts';

/** Stores the status of the experiment as an event, in the transaction that writes the status. Without a listener it does nothing. */
export async function insertExperimentEvent(tx: Writer, experiment: ExperimentsTable): Promise<void> {
  const { account_id, type, user_email, updated_at } = experiment;
  const info = formatExperimentInfo(experiment, { type, user_email, updated_at });
  await insertEvent(tx, { account_id, at: updated_at }, info);
}

/** The account and the creator of a test are those of its batch, which exists as long as the test. */
type TestOwner = Pick<ExperimentsTable, 'account_id' | 'user_email'>;

/** Stores the status of the acceptance test at the given time, as `insertExperimentEvent` does for an experiment. */
export async function insertAcceptanceEvent(
  tx: Writer,
  test: AcceptanceTestsTable,
  { account_id, user_email }: TestOwner,
  at: number,
): Promise<void> {
  const info = formatExperimentInfo(test, { type: 'acceptance', user_email, updated_at: at });
  const outcome = test.passed === null ? {} : { passed: test.passed === 1 };
  await insertEvent(tx, { account_id, at }, { ...info, ...outcome });
}

async function insertEvent(
  tx: Writer,
  { account_id, at }: { account_id: AccountId; at: number },
  info: ExperimentInfo,
): Promise<void> {
  const listener = await tx
    .selectFrom('run_listeners')
    .select('account_id')
    .where('account_id', '=', account_id)
    .executeTakeFirst();
  if (!listener) return;
  const data = JSON.stringify(info);
  await tx.insertInto('experiment_events').values({ account_id, data, at }).execute();
}

type CommonColumns = 'id' | 'application_id' | 'name' | 'description' | 'status' | 'created_at';

function formatExperimentInfo(
  { id, application_id, name, description, status, created_at }: Pick<ExperimentsTable, CommonColumns>,
  { type, user_email, updated_at }: Pick<ExperimentInfo, 'type' | 'user_email'> & { updated_at: number },
): ExperimentInfo {
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
