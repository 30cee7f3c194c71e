/** Acceptance tests: the rules of each, and what came out. What they run is a batch, whose rows are its own. */
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
  /** The batch it is a view on, which is there as long as the test is. */
  experiment_uid: string;
  experiment_id: ExperimentId;
  /** In JSON: what is to be told apart, and by which rules. Never changed. */
  definition: string;
  /** `started` until it is decided, which happens once. */
  status: AcceptanceTest['status'];
  /** From then on: whether it is passed, as 1 or 0. */
  passed: number | null;
  /** Why nothing could be decided; empty when it could. */
  error: string;
  /** How each rule was decided, in JSON. */
  metric_results: string | null;
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
      // Those that are to be decided are few among many.
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
];
