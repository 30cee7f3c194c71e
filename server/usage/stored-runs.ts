/** Usage of the runs that a database of an earlier release has. */
import { type Kysely, sql } from 'kysely';

/**
 * Inserts one record for each ended run. The job that adds records to totals then counts them in batches, so that the
 * start of the server waits for one statement only.
 */
export async function insertUsageOfStoredRuns(db: Kysely<unknown>): Promise<void> {
  await sql`insert into usage_records (account_id, application_id, user_email, ended_at, status, run_type,
      execution_class, execution_ms, bytes)
    select account_id, application_id, user_email, finished_at, status, run_type, execution_class, execution_ms,
      input_bytes + output_bytes
    from runs where finished_at is not null`.execute(db);
}
