/** The table of acceptance tests: their rules and results. The runs belong to a batch experiment in the table of experiments. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface AcceptanceTestsTable {
  uid: string;
  application_uid: string;
  application_id: ApplicationId;
  id: ExperimentId;
  name: string;
  description: string;
  /** The batch experiment whose runs the test compares. It exists as long as the test. */
  experiment_uid: string;
  experiment_id: ExperimentId;
  /** An AcceptanceDefinition (acceptance-definition.ts), in JSON. Never changes. */
  definition: string;
  /** `started` until the test is decided; a decision is final. */
  status: AcceptanceTest['status'];
  /** 1 for passed, 0 for not passed; null until the test is decided. */
  passed: number | null;
  /** The reason why the rules could not be decided; empty when they were. */
  error: string;
  /** A MetricResult for each rule, in JSON; null until the test is decided. */
  metric_results: string | null;
  /** The profiles of the results, in JSON; null until the test is decided. */
  profiles: string | null;
  /** The number of tests made on the batch so far, deleted ones included; the same in all tests of the batch. */
  tests_on_batch: number;
  /** The method of analysis that decided the test; null until then. */
  method: string | null;
  /** An ExperimentVerdict or null, in JSON; null until a list has it. */
  verdict: string | null;
  created_at: number;
  updated_at: number;
}

export const createTables: Migration['up'] = async (db, { restrictStatus }) => {
  await executeAll(db, [
    sql`create table acceptance_tests (
      uid text primary key, application_uid text not null, application_id text not null, id text not null,
      name text not null, description text not null, experiment_uid text not null, experiment_id text not null,
      definition text not null, status text not null, passed integer, error text not null, metric_results text,
      created_at bigint not null, updated_at bigint not null, method text, profiles text,
      tests_on_batch integer not null default 1, constraint acceptance_tests_key unique (application_uid, id)
    )`,
    sql`create index acceptance_tests_by_age on acceptance_tests (application_uid, created_at, id)`,
    sql`create index acceptance_tests_by_experiment on acceptance_tests (experiment_uid)`,
    // Undecided tests are few, so a partial index stays small.
    sql`create index acceptance_tests_started on acceptance_tests (uid) where status = 'started'`,
  ]);
  await restrictStatus(db, {
    table: 'acceptance_tests',
    transitions: { started: ['completed', 'failed'], completed: [], failed: [] },
  });
};
