/** What the tables of runs have for experiments and ensembles: marks, plans, routes and notes. */
import { sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';

export const experimentMigrations: readonly Migration[] = [
  {
    name: '0025-runs-of-experiments',
    async up(db) {
      for (const column of [
        'experiment_uid',
        'experiment_id',
        'experiment_type',
        'parent_run_id',
        'labels',
      ] as const)
        await db.schema.alterTable('runs').addColumn(column, 'text').execute();
      await db.schema.alterTable('runs').addColumn('plan_unit_index', 'integer').execute();
      // Few runs belong to an experiment, and fewer of them have not ended: small indexes of their own.
      await sql`create index runs_of_experiment on runs (experiment_uid, created_at, id) where experiment_uid is not null`.execute(
        db,
      );
      await sql`create index runs_unfinished_of_experiment on runs (experiment_uid) where experiment_uid is not null and finished_at is null`.execute(
        db,
      );
      await sql`create index runs_of_parent on runs (parent_run_id) where parent_run_id is not null`.execute(
        db,
      );
      await db.schema
        .createTable('planned_runs')
        .addColumn('owner_uid', 'text', (column) => column.notNull())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('planned_at', 'bigint', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('version_id', 'text', (column) => column.notNull())
        .addColumn('options', 'text', (column) => column.notNull())
        .addColumn('priority', 'integer')
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addColumn('input_format', 'text', (column) => column.notNull())
        .addColumn('input_id', 'text')
        .addColumn('experiment_uid', 'text')
        .addColumn('experiment_id', 'text')
        .addColumn('experiment_type', 'text')
        .addColumn('parent_run_id', 'text')
        .addColumn('labels', 'text')
        .addColumn('error', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('planned_runs_key', ['owner_uid', 'position'])
        .execute();
      await sql`create index planned_runs_waiting on planned_runs (planned_at, owner_uid, position) where error = ''`.execute(
        db,
      );
      await sql`create index planned_runs_of_parent on planned_runs (parent_run_id) where parent_run_id is not null`.execute(
        db,
      );
      await db.schema
        .createIndex('planned_runs_of_application')
        .on('planned_runs')
        .column('application_uid')
        .execute();
      await db.schema
        .createTable('run_routes')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('experiment_id', 'text', (column) => column.notNull())
        .addColumn('rule', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('run_routes_key', ['application_uid', 'instance_id'])
        .execute();
      await db.schema
        .createTable('captured_runs')
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('captured_runs_key', ['experiment_uid', 'run_id'])
        .execute();
      await db.schema.createIndex('captured_runs_of_run').on('captured_runs').column('run_id').execute();
    },
  },
  {
    name: '0030-statuses-of-experiments',
    async up(db) {
      // How many runs of an experiment have each status, and its runs by id: asked for again and again while it goes on.
      await sql`create index runs_status_of_experiment on runs (experiment_uid, id, status) where experiment_uid is not null`.execute(
        db,
      );
      await sql`create index planned_runs_refused on planned_runs (owner_uid, position) where error <> ''`.execute(
        db,
      );
    },
  },
  {
    name: '0034-unfinished-of-experiments',
    async up(db) {
      // With both columns SQLite prefers it to the index by status, in which it would read all that has ended.
      await sql`drop index runs_unfinished_of_experiment`.execute(db);
      await sql`create index runs_unfinished_of_experiment on runs (experiment_uid, finished_at) where experiment_uid is not null and finished_at is null`.execute(
        db,
      );
    },
  },
];
