/** Statements on retention policies, and on the runs that they concern. */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Reader, Tables, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { RunFacts } from './classify-run.ts';
import type { RetentionPoliciesTable } from './schema.ts';

export function findPolicy(db: Reader, applicationUid: string): Promise<RetentionPoliciesTable | undefined> {
  return db
    .selectFrom('retention_policies')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .executeTakeFirst();
}

/** Returns the policy and locks it against changes until the transaction ends. */
export function lockPolicy(tx: Writer, applicationUid: string): Promise<RetentionPoliciesTable | undefined> {
  const query = tx.selectFrom('retention_policies').selectAll().where('application_uid', '=', applicationUid);
  return locked(tx, query, 'share').executeTakeFirst();
}

export async function upsertPolicy(tx: Writer, policy: RetentionPoliciesTable): Promise<void> {
  const { application_uid: _, ...changes } = policy;
  await tx
    .insertInto('retention_policies')
    .values(policy)
    .onConflict((conflict) => conflict.column('application_uid').doUpdateSet(changes))
    .execute();
}

/** A policy that deletes runs, with the application that it belongs to. */
export interface ActivePolicy extends RetentionPoliciesTable {
  keep_days: number;
  account_id: AccountId;
  application_id: ApplicationId;
}

/** Lists the policies that delete runs, of applications that are not deleted. */
export async function listActivePolicies(db: Reader): Promise<ActivePolicy[]> {
  const rows = await db
    .selectFrom('retention_policies')
    .innerJoin('applications', 'applications.uid', 'retention_policies.application_uid')
    .selectAll('retention_policies')
    .select(['applications.account_id', 'applications.id as application_id'])
    .where('applications.deleted_at', 'is', null)
    .where('retention_policies.keep_days', 'is not', null)
    .orderBy('retention_policies.application_uid')
    .execute();
  return rows.flatMap((row) => (row.keep_days === null ? [] : [{ ...row, keep_days: row.keep_days }]));
}

export async function removePolicy(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('retention_policies').where('application_uid', '=', applicationUid).execute();
}

/** A position in the list of runs, oldest first. */
export interface RunPosition {
  created_at: number;
  id: string;
}

type RunsBuilder = ExpressionBuilder<Tables, 'runs'>;

/** Finds a share link of the run, or of a child run, which would be deleted with it. */
function isShared(eb: RunsBuilder) {
  const own = eb
    .selectFrom('run_shares')
    .select('run_shares.id')
    .whereRef('run_shares.run_id', '=', 'runs.id');
  const ofChild = eb
    .selectFrom('runs as shared_child')
    .innerJoin('run_shares', 'run_shares.run_id', 'shared_child.id')
    .select('run_shares.id')
    .whereRef('shared_child.parent_run_id', '=', 'runs.id');
  return eb.or([eb.exists(own), eb.exists(ofChild)]);
}

/** Columns that say why a run stays. Each finds at most one row by an index. */
function selectFacts(eb: RunsBuilder) {
  return [
    eb
      .exists(eb.selectFrom('run_tags').select('run_tags.tag').whereRef('run_tags.run_id', '=', 'runs.id'))
      .as('is_tagged'),
    eb
      .exists(
        eb
          .selectFrom('runs as child')
          .innerJoin('run_tags', 'run_tags.run_id', 'child.id')
          .select('child.id')
          .whereRef('child.parent_run_id', '=', 'runs.id'),
      )
      .as('has_tagged_child'),
    eb
      .exists(
        eb.selectFrom('runs as parent').select('parent.id').whereRef('parent.id', '=', 'runs.parent_run_id'),
      )
      .as('has_parent'),
    eb
      .exists(
        eb
          .selectFrom('captured_runs')
          .select('captured_runs.run_id')
          .whereRef('captured_runs.run_id', '=', 'runs.id'),
      )
      .as('is_captured'),
    isShared(eb).as('is_shared'),
    eb
      .exists(
        eb
          .selectFrom('run_replays')
          .select('run_replays.run_id')
          .where('run_replays.comparison', 'is', null)
          .where((inner) =>
            inner.or([
              inner('run_replays.run_id', '=', inner.ref('runs.id')),
              inner('run_replays.original_run_id', '=', inner.ref('runs.id')),
            ]),
          ),
      )
      .as('is_replayed'),
    eb
      .exists(
        eb
          .selectFrom('experiments')
          .select('experiments.uid')
          .whereRef('experiments.uid', '=', 'runs.experiment_uid')
          .where((inner) =>
            inner.or([
              inner('experiments.completed_at', 'is', null),
              inner.exists(
                inner
                  .selectFrom('unsettled_experiments')
                  .select('unsettled_experiments.experiment_uid')
                  .whereRef('unsettled_experiments.experiment_uid', '=', 'experiments.uid'),
              ),
              inner.exists(
                inner
                  .selectFrom('acceptance_tests')
                  .select('acceptance_tests.uid')
                  .whereRef('acceptance_tests.experiment_uid', '=', 'experiments.uid')
                  .where('acceptance_tests.status', '=', 'started'),
              ),
            ]),
          ),
      )
      .as('has_active_experiment'),
  ];
}

const selectRunFacts = (db: Reader) =>
  db
    .selectFrom('runs')
    .select(['id', 'name', 'created_at', 'finished_at', 'experiment_uid', 'run_type'])
    .select(selectFacts);

/** Lists runs of the application created before the instant, oldest first, after the position. */
export function listOldRuns(
  db: Reader,
  at: { applicationUid: string; before: number },
  after: RunPosition | null,
  limit: number,
): Promise<RunFacts[]> {
  let query = selectRunFacts(db)
    .where('application_uid', '=', at.applicationUid)
    .where('created_at', '<', at.before)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  if (after) query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`);
  return query.execute();
}

/** Returns the same facts of the runs with these ids. */
export async function findRunFacts(db: Reader, ids: readonly RunId[]): Promise<RunFacts[]> {
  return ids.length === 0 ? [] : selectRunFacts(db).where('id', 'in', ids).execute();
}

/** Sums the bytes of inputs, previous outputs, outputs, logs and assets of the runs. */
export async function sumRunBytes(db: Reader, ids: readonly RunId[]): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await sql<{ bytes: number | string | null }>`select
    (select sum(input_bytes + output_bytes) from runs where id in (${sql.join(ids)})) +
    coalesce((select sum(bytes) from assets where run_id in (${sql.join(ids)})), 0) +
    coalesce((select sum(contents.bytes) from runs inner join contents
      on contents.id in (runs.log_content_id, runs.stdout_content_id, runs.previous_content_id) where runs.id in (${sql.join(ids)})), 0)
    as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

/** Lists the ids of runs of the application, oldest first, after the position. */
export function listRunPositions(
  db: Reader,
  applicationUid: string,
  after: RunPosition | null,
  limit: number,
): Promise<{ id: RunId; created_at: number }[]> {
  let query = db
    .selectFrom('runs')
    .select(['id', 'created_at'])
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  if (after) query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`);
  return query.execute();
}

/** Sums the bytes of managed inputs and input sets, and of pushed archives, of an application. */
export async function sumOtherBytes(
  db: Reader,
  uid: string,
): Promise<{ input_bytes: number; executable_bytes: number }> {
  const { rows } = await sql<{ input_bytes: number | string; executable_bytes: number | string }>`select
    coalesce((select sum(contents.bytes) from inputs inner join contents on contents.id = inputs.content_id
      where inputs.application_uid = ${uid}), 0) +
    coalesce((select sum(contents.bytes) from input_sets
      inner join input_set_inputs on input_set_inputs.input_set_uid = input_sets.uid
      inner join contents on contents.id = input_set_inputs.content_id
      where input_sets.application_uid = ${uid}), 0) as input_bytes,
    coalesce((select sum(contents.bytes) from executables inner join contents
      on contents.id = executables.content_id where executables.application_uid = ${uid}), 0)
    as executable_bytes`.execute(db);
  return {
    input_bytes: Number(rows[0]?.input_bytes ?? 0),
    executable_bytes: Number(rows[0]?.executable_bytes ?? 0),
  };
}
