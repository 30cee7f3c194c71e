/** Statements on the status of experiments, for the streams of accounts. */
import { sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import type { ExperimentsTable } from './schema.ts';

export type ExperimentState = Pick<
  ExperimentsTable,
  'uid' | 'account_id' | 'application_id' | 'id' | 'type' | 'status'
>;

const COLUMNS = ['uid', 'account_id', 'application_id', 'id', 'type', 'status'] as const;

/** Lists the started experiments of all accounts, which are few. */
export function listStartedExperiments(db: Reader, limit: number): Promise<ExperimentState[]> {
  return (
    db
      .selectFrom('experiments')
      .select(COLUMNS)
      // A literal, because the planner uses the partial index only for a status in the statement.
      .where('status', '=', sql.lit('started'))
      .where('deleted_at', 'is', null)
      .limit(limit)
      .execute()
  );
}

/** Returns those of the experiments that are not deleted. */
export async function findExperimentStates(db: Reader, uids: readonly string[]): Promise<ExperimentState[]> {
  if (uids.length === 0) return [];
  return db
    .selectFrom('experiments')
    .select(COLUMNS)
    .where('uid', 'in', uids)
    .where('deleted_at', 'is', null)
    .execute();
}
