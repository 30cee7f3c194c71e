/** The table of acceptance tests: their rules and results. The runs belong to a batch experiment in the table of experiments. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';

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
  /** The profiles of the results, in JSON; null until the test is decided, and for a decision of an older release. */
  profiles: string | null;
  /** The number of tests made on the batch so far, deleted ones included; the same in all tests of the batch. */
  tests_on_batch: number;
  /** The method of analysis that decided the test; null until then, and for a decision of an older release. */
  method: string | null;
  created_at: number;
  updated_at: number;
}

declare module '../../database/database.ts' {
  interface Tables {
    acceptance_tests: AcceptanceTestsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0029-acceptance-tests',
    async up(db) {
      await db.schema
        .createTable('acceptance_tests')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('experiment_id', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('passed', 'integer')
        .addColumn('error', 'text', (column) => column.notNull())
        .addColumn('metric_results', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('acceptance_tests_key', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('acceptance_tests_by_age')
        .on('acceptance_tests')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
      await db.schema
        .createIndex('acceptance_tests_by_experiment')
        .on('acceptance_tests')
        .column('experiment_uid')
        .execute();
      // Undecided tests are few, so a partial index stays small.
      await sql`create index acceptance_tests_started on acceptance_tests (uid) where status = 'started'`.execute(
        db,
      );
    },
  },
  {
    name: '0058-transitions-of-acceptance-tests',
    async up(db, types) {
      await types.restrictStatus(db, {
        table: 'acceptance_tests',
        transitions: {
          started: ['completed', 'failed'],
          completed: [],
          failed: [],
        },
      });
    },
  },
  {
    name: '0063-methods-of-acceptance-tests',
    async up(db) {
      await db.schema.alterTable('acceptance_tests').addColumn('method', 'text').execute();
    },
  },
  {
    name: '0068-profiles-of-acceptance-tests',
    async up(db) {
      await db.schema.alterTable('acceptance_tests').addColumn('profiles', 'text').execute();
      await db.schema
        .alterTable('acceptance_tests')
        .addColumn('tests_on_batch', 'integer', (column) => column.notNull().defaultTo(1))
        .execute();
      const onSameBatch = sql<number>`(select count(*) from acceptance_tests as other
        where other.experiment_uid = acceptance_tests.experiment_uid)`;
      await db
        .withTables<{ acceptance_tests: Pick<AcceptanceTestsTable, 'tests_on_batch'> }>()
        .updateTable('acceptance_tests')
        .set({ tests_on_batch: onSameBatch })
        .execute();
    },
  },
];
