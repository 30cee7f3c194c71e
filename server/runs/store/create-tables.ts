/** Creates the tables of runs. */
import { sql } from 'kysely';
import { hashText } from '../../platform/database/hash-text.ts';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

const createRuns: Migration['up'] = async (db, { restrictStatus }) => {
  const requirements = hashText(
    db,
    sql`coalesce(required_labels, '') || ' ' || coalesce(required_licenses, '')`,
  );
  await executeAll(db, [
    sql`create table runs (
      id text primary key, application_uid text not null, account_id text not null,
      application_id text not null, instance_id text not null, version_id text not null,
      executable_id text not null, user_email text not null, name text not null, description text not null,
      status text not null, created_at bigint not null, run_type text not null, definition_id text,
      reference_id text, execution_class text not null, priority integer not null,
      queuing_disabled integer not null, runtime text not null, input_format text not null,
      output_format text not null, input_content_id text not null, input_bytes bigint not null,
      options_summary text not null, request_options text not null, network integer not null,
      attempt integer not null, fence integer not null, worker_id text, cancel_requested_at bigint,
      initiated_at bigint, finished_at bigint, execution_ms double precision, output_content_id text,
      output_bytes bigint not null, error text not null, stdout_content_id text, log_content_id text,
      statistics_status text not null, statistics_error text not null, indicators text not null,
      statistics text, metrics text, containment text not null, limits text, peak_memory_bytes bigint,
      secrets_collection_id text, input_id text, cloned_run_id text, assets_error text, experiment_uid text,
      experiment_id text, experiment_type text, parent_run_id text, labels text, plan_unit_index integer,
      ensemble text, rules_result text, runtime_version text, metrics_error text,
      host_faults integer not null default 0, retry_at bigint, host_fault text, start_conditions text,
      api_access text, workflow text, slot_released_at bigint, workflow_depth integer not null default 0,
      required_labels text, required_licenses text, trace_context text, requeued_at bigint, lost_attempts text,
      max_duration integer, created_by_key text, child_of_experiment integer
    )`,
    sql`create index runs_by_age on runs (application_uid, created_at, id)`,
    // Partial indexes stay small: few runs are queued or running, or belong to an experiment, however many have ended.
    sql`create index runs_queued on runs (execution_class, priority, created_at, id) where status = 'queued'`,
    sql`create index runs_running on runs (worker_id) where status = 'running'`,
    sql`create index runs_queued_of_account on runs (account_id, priority, created_at, id) where status = 'queued'`,
    // Finds any run of an executable, and any unfinished one.
    sql`create index runs_of_executable on runs (executable_id, finished_at)`,
    sql`create index runs_of_experiment on runs (experiment_uid, created_at, id) where experiment_uid is not null`,
    sql`create index runs_of_parent on runs (parent_run_id) where parent_run_id is not null`,
    // Finds the newest succeeded runs of one instance without a scan of newer runs that failed or belong to others.
    sql`create index runs_succeeded_of_instance on runs (application_uid, instance_id, created_at, id) where status = 'succeeded'`,
    sql`create index runs_ensembles_running on runs (id) where status = 'running' and run_type = 'ensemble'`,
    sql`create index runs_unfinished_of_parent on runs (parent_run_id) where parent_run_id is not null and finished_at is null`,
    // For the run counts by status and the runs by id, which an experiment in progress queries often.
    sql`create index runs_status_of_experiment on runs (experiment_uid, id, status) where experiment_uid is not null`,
    // With both columns SQLite chooses this index over the one by status, in which it would read all ended runs.
    sql`create index runs_unfinished_of_experiment on runs (experiment_uid, finished_at) where experiment_uid is not null and finished_at is null`,
    // Filtered lists read queued runs in the order of time, of all priorities. With the column alone PostgreSQL sometimes
    // chose runs_by_age, and read all runs of the application.
    sql`create index runs_queued_of_application on runs ((application_uid || ''), created_at, id) where status = 'queued'`,
    // Finds the lanes (order/lanes.ts) account by account, and their runs in order of age.
    sql`create index runs_queued_of_lane on runs (account_id, (${requirements}), execution_class, priority, application_uid, created_at, id) where status = 'queued'`,
    sql`create index runs_by_production on runs (application_uid, created_at, id) where (child_of_experiment is null and (experiment_uid is null or experiment_type = 'switchback'))`,
  ]);
  await restrictStatus(db, {
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
};

const createPlans: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table planned_runs (
      owner_uid text not null, position integer not null, application_uid text not null,
      planned_at bigint not null, user_email text not null, name text not null, instance_id text not null,
      version_id text not null, options text not null, priority integer, content_id text not null,
      input_format text not null, input_id text, experiment_uid text, experiment_id text, experiment_type text,
      parent_run_id text, labels text, error text not null, definition_id text, max_duration integer,
      created_by_key text, constraint planned_runs_key primary key (owner_uid, position)
    )`,
    sql`create index planned_runs_waiting on planned_runs (planned_at, owner_uid, position) where error = ''`,
    sql`create index planned_runs_of_parent on planned_runs (parent_run_id) where parent_run_id is not null`,
    sql`create index planned_runs_of_application on planned_runs (application_uid)`,
    sql`create index planned_runs_refused on planned_runs (owner_uid, position) where error <> ''`,
    sql`create table run_routes (
      application_uid text not null, instance_id text not null, kind text not null,
      experiment_uid text not null, experiment_id text not null, rule text not null,
      constraint run_routes_key primary key (application_uid, instance_id)
    )`,
    sql`create table captured_runs (
      experiment_uid text not null, run_id text not null, application_uid text not null, at bigint not null,
      constraint captured_runs_key primary key (experiment_uid, run_id)
    )`,
    sql`create index captured_runs_of_run on captured_runs (run_id)`,
    sql`create table deleted_unit_runs (
      experiment_uid text not null, plan_unit_index integer not null, runs integer not null,
      constraint deleted_unit_runs_key primary key (experiment_uid, plan_unit_index)
    )`,
    sql`create table deleted_experiment_runs (
      experiment_uid text not null, run_id text not null, instance_id text not null, version_id text not null,
      definition_id text, input_id text, labels text,
      constraint deleted_experiment_runs_key primary key (experiment_uid, run_id)
    )`,
  ]);

const createOutcomes: Migration['up'] = (db, { bytes, sequence }) =>
  executeAll(db, [
    sql`create table run_events (
      seq ${sequence}, run_id text not null, application_uid text not null, status text not null,
      at bigint not null, pending integer not null default 0
    )`,
    sql`create index run_events_by_age on run_events (at)`,
    // In the order of the transitions of a run; events of one commit have no other order.
    sql`create index run_events_pending on run_events (seq) where pending = 1`,
    sql`create table run_listeners (account_id text primary key)`,
    sql`create table log_chunks (
      run_id text not null, seq bigint not null, at bigint not null, lines text not null,
      lines_so_far bigint not null, chars_so_far bigint not null,
      constraint log_chunks_key primary key (run_id, seq)
    )`,
    sql`create index log_chunks_by_age on log_chunks (at)`,
    sql`create table run_log_times (run_id text primary key, times ${bytes} not null)`,
    sql`create table run_series (
      run_id text not null, seq bigint not null, is_first integer not null, points text not null,
      constraint run_series_key primary key (run_id, seq)
    )`,
    sql`create table assets (
      run_id text not null, id text not null, position integer not null, name text not null,
      description text not null, visual text, bytes bigint not null, content_id text not null,
      created_at bigint not null, constraint assets_key primary key (run_id, position)
    )`,
    sql`create table run_tags (
      run_id text not null, tag text not null, constraint run_tags_key primary key (run_id, tag)
    )`,
    sql`create table run_replays (
      run_id text primary key, application_uid text not null, original_run_id text not null,
      created_at bigint not null, comparison text
    )`,
    sql`create index run_replays_of_original on run_replays (original_run_id, created_at, run_id)`,
    sql`create index run_replays_pending on run_replays (created_at, run_id) where comparison is null`,
  ]);

export const createTables: Migration['up'] = async (db, types) => {
  for (const create of [createRuns, createPlans, createOutcomes]) await create(db, types);
};

/** The earlier run whose output a run starts from. Servers of release 0.2.0 leave the columns empty, and start the app without it. */
export const addPreviousRun: Migration['up'] = (db) =>
  executeAll(
    db,
    ['previous_run_id', 'previous_content_id', 'previous_format'].map(
      (column) => sql`alter table runs add column ${sql.ref(column)} text`,
    ),
  );
