/** Queries for acceptance tests; transitions.ts has the statements that write their status. */
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { parseAcceptanceDefinition } from './acceptance-definition.ts';
import type { AcceptanceTestsTable } from './acceptance-schema.ts';
import type { ExperimentsTable } from './schema.ts';

/** A literal, because the planner uses a partial index only for a value in the text of the statement. */
const STARTED = sql.lit<'started'>('started');

/** All columns but `metric_results` and `profiles`, which can be long. */
const LISTED = [
  'uid',
  'application_uid',
  'application_id',
  'id',
  'name',
  'description',
  'experiment_uid',
  'experiment_id',
  'definition',
  'status',
  'passed',
  'error',
  'method',
  'verdict',
  'tests_on_batch',
  'created_at',
  'updated_at',
] as const;

/** An acceptance test without its metric results. */
export type ListedAcceptanceTest = Pick<AcceptanceTestsTable, (typeof LISTED)[number]>;

/** Returns the test; undefined when there is none. */
export function findAcceptanceTest(
  db: Reader,
  applicationUid: string,
  id: ExperimentId,
): Promise<AcceptanceTestsTable | undefined> {
  return db
    .selectFrom('acceptance_tests')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Lists tests, newest first: one row more than the page, to see whether others follow. A null `page.limit` lists all. */
export function listAcceptanceTests(
  db: Reader,
  applicationUid: string,
  page: PageRequest,
  status?: ExperimentsTable['status'],
): Promise<ListedAcceptanceTest[]> {
  let query = db
    .selectFrom('acceptance_tests')
    .select(LISTED)
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (status === 'draft' || status === 'canceled') return Promise.resolve([]);
  if (status) query = query.where('status', '=', status);
  if (page.after) query = query.where(isAfter('acceptance_tests', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Changes the test, but not its status (transitions.ts); returns the changed row, or undefined when it is gone. */
export function updateAcceptanceTest(
  tx: Writer,
  uid: string,
  {
    name,
    description,
    updated_at,
  }: Partial<Pick<AcceptanceTestsTable, 'name' | 'description' | 'updated_at'>>,
): Promise<AcceptanceTestsTable | undefined> {
  return tx
    .updateTable('acceptance_tests')
    .set({ name, description, updated_at })
    .where('uid', '=', uid)
    .returningAll()
    .executeTakeFirst();
}

/** A test that waits for its decision, with the columns of its batch experiment. */
export interface UndecidedAcceptanceTest extends ListedAcceptanceTest {
  batch_status: ExperimentsTable['status'];
  batch_definition: ExperimentsTable['definition'];
}

/** Lists undecided tests whose batch experiment has ended, by uid after the given uid. */
export function listUndecidedAcceptanceTests(
  db: Reader,
  after: string,
  limit: number,
): Promise<UndecidedAcceptanceTest[]> {
  return db
    .selectFrom('acceptance_tests')
    .innerJoin('experiments', 'experiments.uid', 'acceptance_tests.experiment_uid')
    .select(LISTED.map((column) => `acceptance_tests.${column}` as const))
    .select(['experiments.status as batch_status', 'experiments.definition as batch_definition'])
    .where('acceptance_tests.status', '=', STARTED)
    .where('experiments.status', '!=', 'started')
    .where('experiments.deleted_at', 'is', null)
    .where('acceptance_tests.uid', '>', after)
    .orderBy('acceptance_tests.uid')
    .limit(limit)
    .execute();
}

/** Records that the rules of the test did not come before the results of its question. */
export async function recordKnownResults(
  tx: Writer,
  { uid, definition }: Pick<AcceptanceTestsTable, 'uid' | 'definition'>,
): Promise<void> {
  const changed = { ...parseAcceptanceDefinition({ uid, definition }), rules_before_results: false };
  await tx
    .updateTable('acceptance_tests')
    .set({ definition: JSON.stringify(changed) })
    .where('uid', '=', uid)
    .execute();
}

/** Counts the test among those made on its batch, in all of them, and returns the number. Lock the experiment before. */
export async function countTestOnBatch(tx: Writer, experimentUid: string, uid: string): Promise<number> {
  const { made } = await tx
    .selectFrom('acceptance_tests')
    .select((eb) => eb.fn.max('tests_on_batch').as('made'))
    .where('experiment_uid', '=', experimentUid)
    .where('uid', '!=', uid)
    .executeTakeFirstOrThrow();
  const tests_on_batch = Number(made ?? 0) + 1;
  await tx
    .updateTable('acceptance_tests')
    .set({ tests_on_batch })
    .where('experiment_uid', '=', experimentUid)
    .execute();
  return tests_on_batch;
}

/** Deletes the test. Returns false when it was deleted already. */
export async function deleteAcceptanceTest(tx: Writer, uid: string): Promise<boolean> {
  const result = await tx.deleteFrom('acceptance_tests').where('uid', '=', uid).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Returns true when an acceptance test compares runs of the batch experiment. */
export async function hasAcceptanceTests(db: Reader, experimentUid: string): Promise<boolean> {
  const row = await db
    .selectFrom('acceptance_tests')
    .select('uid')
    .where('experiment_uid', '=', experimentUid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes the tests of a batch. Call it after the deletion of the batch in the same transaction: no test can follow then. */
export async function deleteAcceptanceTestsOfBatch(tx: Writer, experimentUid: string): Promise<void> {
  await tx.deleteFrom('acceptance_tests').where('experiment_uid', '=', experimentUid).execute();
}

/** Deletes at most `limit` tests of an application. Returns a null for each deleted row. */
export async function removeAcceptanceTestsOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<null[]> {
  const rows = await tx
    .deleteFrom('acceptance_tests')
    .where('uid', 'in', (eb) =>
      eb
        .selectFrom('acceptance_tests')
        .select('uid')
        .where('application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('uid')
    .execute();
  return rows.map(() => null);
}
