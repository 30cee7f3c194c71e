/** The tables of experiments of every kind, of the inputs of their planned runs, and of their results. */
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { AccountId, ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentStatus, ExperimentType } from '@switchyard/contract/states.ts';
import { type Generated, sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';

/** The kinds of experiments; each has its own collection in the API. A scenario test is a batch. */
export type ExperimentKind = 'batch' | 'shadow' | 'switchback' | 'bisect';

export interface ExperimentsTable {
  uid: string;
  application_uid: string;
  application_id: ApplicationId;
  account_id: AccountId;
  kind: ExperimentKind;
  id: ExperimentId;
  type: ExperimentType;
  name: string;
  description: string;
  status: ExperimentStatus;
  /** The user who created the experiment; its runs have the same user. */
  user_email: string;
  /** The definition of its kind in JSON. Changes only when a test starts, a race continues, or an acceptance test sets the control. */
  definition: string;
  /** The number of requested runs so far. */
  requested: number;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** From this time on callers do not see the experiment, and a job removes its rows and runs. */
  deleted_at: number | null;
}

/** An input of planned runs. The experiment references its content until the last run of it is created. */
export interface ExperimentInputsTable {
  experiment_uid: string;
  input_set_id: string;
  input_id: string;
  content_id: string;
  input_format: FormatType;
}

/** The results of an experiment that has ended. */
interface ExperimentResultsTable {
  experiment_uid: string;
  /** In JSON. */
  results: string;
}

/** An online test that has ended, while runs that count for its results have not: see online/online-tests.ts. */
interface UnsettledExperimentsTable {
  experiment_uid: string;
}

/** The number of plans of two instances in switchback tests: see plan-draws.ts. */
interface SwitchbackDrawsTable {
  application_uid: string;
  baseline: string;
  candidate: string;
  plans: number;
}

/** Clusters and features of the inputs of a batch, in JSON: see input-properties.ts. */
interface ExperimentInputPropertiesTable {
  experiment_uid: string;
  properties: string;
}

/** A status change of an experiment that its account's webhooks get. The row exists until its deliveries are enqueued. */
export interface ExperimentEventsTable {
  /** Increases with each event, but not always in the order of commits. */
  seq: number;
  account_id: AccountId;
  /** The experiment at the time of the change: an ExperimentInfo in JSON. */
  data: string;
  at: number;
}

declare module '../../database/database.ts' {
  interface Tables {
    experiment_events: Omit<ExperimentEventsTable, 'seq'> & { seq: Generated<number> };
    experiments: ExperimentsTable;
    experiment_inputs: ExperimentInputsTable;
    experiment_input_properties: ExperimentInputPropertiesTable;
    experiment_results: ExperimentResultsTable;
    unsettled_experiments: UnsettledExperimentsTable;
    switchback_draws: SwitchbackDrawsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0028-experiments',
    async up(db) {
      await db.schema
        .createTable('experiments')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addColumn('requested', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addColumn('started_at', 'bigint')
        .addColumn('completed_at', 'bigint')
        .addColumn('deleted_at', 'bigint')
        .execute();
      await sql`create unique index experiments_key on experiments (application_uid, kind, id) where deleted_at is null`.execute(
        db,
      );
      await db.schema
        .createIndex('experiments_by_age')
        .on('experiments')
        .columns(['application_uid', 'kind', 'created_at', 'id'])
        .execute();
      // Started and deleted experiments are few, so partial indices stay small.
      await sql`create index experiments_started on experiments (uid) where status = 'started' and deleted_at is null`.execute(
        db,
      );
      await sql`create index experiments_deleted on experiments (uid) where deleted_at is not null`.execute(
        db,
      );
      await db.schema
        .createTable('experiment_inputs')
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('input_set_id', 'text', (column) => column.notNull())
        .addColumn('input_id', 'text', (column) => column.notNull())
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addColumn('input_format', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('experiment_inputs_key', ['experiment_uid', 'input_set_id', 'input_id'])
        .execute();
      await db.schema
        .createTable('experiment_results')
        .addColumn('experiment_uid', 'text', (column) => column.primaryKey())
        .addColumn('results', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0031-requests-of-experiments',
    async up(db) {
      await db.schema
        .createTable('experiment_requests')
        .addColumn('experiment_uid', 'text', (column) => column.primaryKey())
        .addColumn('runs', 'text', (column) => column.notNull())
        .execute();
      // Each content id belongs to one experiment, so inputs can be deleted by it.
      await db.schema
        .createIndex('experiment_inputs_by_content')
        .on('experiment_inputs')
        .column('content_id')
        .execute();
    },
  },
  {
    name: '0033-unsettled-experiments',
    async up(db) {
      await db.schema
        .createTable('unsettled_experiments')
        .addColumn('experiment_uid', 'text', (column) => column.primaryKey())
        .execute();
    },
  },
  {
    name: '0034-no-requests-of-experiments',
    async up(db) {
      await db.schema.dropTable('experiment_requests').execute();
    },
  },
  {
    name: '0057-transitions-of-experiments',
    async up(db, types) {
      // The transitions of batches and of online tests together.
      await types.restrictStatus(db, {
        table: 'experiments',
        transitions: {
          draft: ['started'],
          started: ['completed', 'failed', 'canceled'],
          completed: [],
          failed: [],
          canceled: [],
        },
      });
    },
  },
  {
    name: '0064-draws-of-switchback-plans',
    async up(db) {
      await db.schema
        .createTable('switchback_draws')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('baseline', 'text', (column) => column.notNull())
        .addColumn('candidate', 'text', (column) => column.notNull())
        .addColumn('plans', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('switchback_draws_key', ['application_uid', 'baseline', 'candidate'])
        .execute();
    },
  },
  {
    name: '0067-properties-of-experiment-inputs',
    async up(db) {
      await db.schema
        .createTable('experiment_input_properties')
        .addColumn('experiment_uid', 'text', (column) => column.primaryKey())
        .addColumn('properties', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0087-experiment-events',
    async up(db, types) {
      await db.schema
        .createTable('experiment_events')
        .addColumn('seq', types.sequence)
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('data', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
