/** Migrations of the tables of runs. */
import { sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';
import { migrations as valueMigrations } from '../values/schema.ts';

type MigrationDatabase = Parameters<Migration['up']>[0];

async function createPlannedRunsTable(db: MigrationDatabase): Promise<void> {
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
}

const experimentMigrations: readonly Migration[] = [
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
      // Partial indexes stay small: few runs belong to an experiment, and fewer of them have not ended.
      await sql`create index runs_of_experiment on runs (experiment_uid, created_at, id) where experiment_uid is not null`.execute(
        db,
      );
      await sql`create index runs_unfinished_of_experiment on runs (experiment_uid) where experiment_uid is not null and finished_at is null`.execute(
        db,
      );
      await sql`create index runs_of_parent on runs (parent_run_id) where parent_run_id is not null`.execute(
        db,
      );
      await createPlannedRunsTable(db);
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
      // For the run counts by status and the runs by id, which an experiment in progress queries often.
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
      // With both columns SQLite chooses this index over the one by status, in which it would read all ended runs.
      await sql`drop index runs_unfinished_of_experiment`.execute(db);
      await sql`create index runs_unfinished_of_experiment on runs (experiment_uid, finished_at) where experiment_uid is not null and finished_at is null`.execute(
        db,
      );
    },
  },
];

async function createEventAndLogTables(
  db: MigrationDatabase,
  types: Parameters<Migration['up']>[1],
): Promise<void> {
  await db.schema
    .createTable('run_events')
    .addColumn('seq', types.sequence)
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('application_uid', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('run_events_by_age').on('run_events').column('at').execute();
  await db.schema
    .createTable('log_chunks')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('lines', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('log_chunks_key', ['run_id', 'seq'])
    .execute();
  await db.schema.createIndex('log_chunks_by_age').on('log_chunks').column('at').execute();
}

/** The migrations of the tables of runs, in their order. */
export const migrations: readonly Migration[] = [
  {
    name: '0008-runs',
    async up(db, types) {
      await db.schema
        .createTable('runs')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('application_id', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('version_id', 'text', (column) => column.notNull())
        .addColumn('executable_id', 'text', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('run_type', 'text', (column) => column.notNull())
        .addColumn('definition_id', 'text')
        .addColumn('reference_id', 'text')
        .addColumn('execution_class', 'text', (column) => column.notNull())
        .addColumn('priority', 'integer', (column) => column.notNull())
        .addColumn('queuing_disabled', 'integer', (column) => column.notNull())
        .addColumn('runtime', 'text', (column) => column.notNull())
        .addColumn('input_format', 'text', (column) => column.notNull())
        .addColumn('output_format', 'text', (column) => column.notNull())
        .addColumn('input_content_id', 'text', (column) => column.notNull())
        .addColumn('input_bytes', 'bigint', (column) => column.notNull())
        .addColumn('options_summary', 'text', (column) => column.notNull())
        .addColumn('request_options', 'text', (column) => column.notNull())
        .addColumn('network', 'integer', (column) => column.notNull())
        .addColumn('attempt', 'integer', (column) => column.notNull())
        .addColumn('fence', 'integer', (column) => column.notNull())
        .addColumn('worker_id', 'text')
        .addColumn('cancel_requested_at', 'bigint')
        .addColumn('initiated_at', 'bigint')
        .addColumn('finished_at', 'bigint')
        .addColumn('execution_ms', 'double precision')
        .addColumn('output_content_id', 'text')
        .addColumn('output_bytes', 'bigint', (column) => column.notNull())
        .addColumn('error', 'text', (column) => column.notNull())
        .addColumn('stdout_content_id', 'text')
        .addColumn('log_content_id', 'text')
        .addColumn('statistics_status', 'text', (column) => column.notNull())
        .addColumn('statistics_error', 'text', (column) => column.notNull())
        .addColumn('indicators', 'text', (column) => column.notNull())
        .addColumn('statistics', 'text')
        .addColumn('metrics', 'text')
        .addColumn('containment', 'text', (column) => column.notNull())
        .addColumn('limits', 'text')
        .addColumn('peak_memory_bytes', 'bigint')
        .execute();
      await db.schema
        .createIndex('runs_by_age')
        .on('runs')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
      // Partial indexes stay small: few runs are queued or running, however many the table has.
      await sql`create index runs_queued on runs (execution_class, priority, created_at, id) where status = 'queued'`.execute(
        db,
      );
      await sql`create index runs_running on runs (worker_id) where status = 'running'`.execute(db);
      await createEventAndLogTables(db, types);
    },
  },
  {
    name: '0013-secrets-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('secrets_collection_id', 'text').execute();
    },
  },
  {
    name: '0019-queue-of-an-account',
    async up(db) {
      await sql`create index runs_queued_of_account on runs (account_id, priority, created_at, id) where status = 'queued'`.execute(
        db,
      );
    },
  },
  {
    name: '0021-runs-of-an-executable',
    async up(db) {
      // Finds any run of an executable, and any unfinished one.
      await db.schema
        .createIndex('runs_of_executable')
        .on('runs')
        .columns(['executable_id', 'finished_at'])
        .execute();
    },
  },
  {
    name: '0024-assets-and-sources-of-runs',
    async up(db) {
      for (const column of ['input_id', 'cloned_run_id', 'assets_error'] as const)
        await db.schema.alterTable('runs').addColumn(column, 'text').execute();
      await db.schema
        .createTable('assets')
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('visual', 'text')
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('assets_key', ['run_id', 'position'])
        .execute();
    },
  },
  ...experimentMigrations,
  {
    name: '0040-listeners-to-runs',
    async up(db) {
      await db.schema
        .createTable('run_listeners')
        .addColumn('account_id', 'text', (column) => column.primaryKey())
        .execute();
      await db.schema
        .alterTable('run_events')
        .addColumn('pending', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      // In the order of the transitions of a run; events of one commit have no other order.
      await sql`create index run_events_pending on run_events (seq) where pending = 1`.execute(db);
    },
  },
  {
    name: '0047-runtime-versions-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('runtime_version', 'text').execute();
    },
  },
  {
    name: '0048-indicators-of-metrics',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('metrics_error', 'text').execute();
    },
  },
  {
    name: '0050-host-faults-of-runs',
    async up(db) {
      await db.schema
        .alterTable('runs')
        .addColumn('host_faults', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema.alterTable('runs').addColumn('retry_at', 'bigint').execute();
      await db.schema.alterTable('runs').addColumn('host_fault', 'text').execute();
    },
  },
  {
    name: '0056-transitions-of-runs',
    async up(db, types) {
      await types.restrictStatus(db, {
        table: 'runs',
        skipsInsertsOnSqlite: true,
        transitions: {
          none: ['succeeded', 'failed', 'canceled'],
          queued: ['running', 'canceled'],
          running: ['succeeded', 'failed', 'canceled', 'queued'],
          succeeded: [],
          failed: [],
          canceled: [],
        },
      });
    },
  },
  {
    name: '0060-start-conditions-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('start_conditions', 'text').execute();
    },
  },
  {
    name: '0066-replays-of-runs',
    async up(db) {
      await db.schema
        .createTable('run_replays')
        .addColumn('run_id', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('original_run_id', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('comparison', 'text')
        .execute();
      await db.schema
        .createIndex('run_replays_of_original')
        .on('run_replays')
        .columns(['original_run_id', 'created_at', 'run_id'])
        .execute();
      // Few replays are not compared yet, so a partial index stays small.
      await sql`create index run_replays_pending on run_replays (created_at, run_id) where comparison is null`.execute(
        db,
      );
    },
  },
  ...valueMigrations,
  {
    name: '0084-series-of-runs',
    async up(db) {
      await db.schema
        .createTable('run_series')
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('seq', 'bigint', (column) => column.notNull())
        .addColumn('is_first', 'integer', (column) => column.notNull())
        .addColumn('points', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('run_series_key', ['run_id', 'seq'])
        .execute();
    },
  },
  {
    name: '0090-tags-of-runs',
    async up(db) {
      await db.schema
        .createTable('run_tags')
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('tag', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('run_tags_key', ['run_id', 'tag'])
        .execute();
    },
  },
  {
    name: '0105-times-of-log-lines',
    async up(db, types) {
      await db.schema
        .createTable('run_log_times')
        .addColumn('run_id', 'text', (column) => column.primaryKey())
        .addColumn('times', types.bytes, (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0121-deleted-runs-of-units',
    async up(db) {
      await db.schema
        .createTable('deleted_unit_runs')
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('plan_unit_index', 'integer', (column) => column.notNull())
        .addColumn('runs', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('deleted_unit_runs_key', ['experiment_uid', 'plan_unit_index'])
        .execute();
    },
  },
  {
    name: '0125-deleted-runs-of-experiments',
    async up(db) {
      await db.schema
        .createTable('deleted_experiment_runs')
        .addColumn('experiment_uid', 'text', (column) => column.notNull())
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('version_id', 'text', (column) => column.notNull())
        .addColumn('definition_id', 'text')
        .addColumn('input_id', 'text')
        .addColumn('labels', 'text')
        .addPrimaryKeyConstraint('deleted_experiment_runs_key', ['experiment_uid', 'run_id'])
        .execute();
    },
  },
];
