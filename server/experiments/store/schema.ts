/** The tables of experiments of every kind, of the inputs of their planned runs, and of their results. */
import type { RunOwnerKind, RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { AccountId, ApplicationId, ExperimentId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentStatus } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface ExperimentsTable {
  uid: string;
  application_uid: string;
  application_id: ApplicationId;
  account_id: AccountId;
  kind: RunOwnerKind;
  id: ExperimentId;
  type: RunOwnerType;
  name: string;
  description: string;
  status: ExperimentStatus;
  /** The user who created the experiment; its runs have the same user. */
  user_email: string;
  /** The key that created it; null when it is unknown. */
  created_by_key: KeyId | null;
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
export interface ExperimentResultsTable {
  experiment_uid: string;
  /** In JSON. */
  results: string;
  /** In JSON, with a hash of the definition that it was computed for; null until a list has it. */
  verdict: string | null;
}

/** An online test that has ended, while runs that count for its results have not: see online/online-tests.ts. */
export interface UnsettledExperimentsTable {
  experiment_uid: string;
}

/** The number of plans of two instances in switchback tests: see plan-draws.ts. */
export interface SwitchbackDrawsTable {
  application_uid: string;
  baseline: string;
  candidate: string;
  plans: number;
}

/** Clusters and features of the inputs of a batch, in JSON: see input-properties.ts. */
export interface ExperimentInputPropertiesTable {
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

export const createTables: Migration['up'] = async (db, { sequence, restrictStatus }) => {
  await executeAll(db, [
    sql`create table experiments (
      uid text primary key, application_uid text not null, application_id text not null,
      account_id text not null, kind text not null, id text not null, type text not null, name text not null,
      description text not null, status text not null, user_email text not null, definition text not null,
      requested integer not null, created_at bigint not null, updated_at bigint not null, started_at bigint,
      completed_at bigint, deleted_at bigint, created_by_key text
    )`,
    sql`create unique index experiments_key on experiments (application_uid, kind, id) where deleted_at is null`,
    sql`create index experiments_by_age on experiments (application_uid, kind, created_at, id)`,
    // Started and deleted experiments are few, so partial indexes stay small.
    sql`create index experiments_started on experiments (uid) where status = 'started' and deleted_at is null`,
    sql`create index experiments_deleted on experiments (uid) where deleted_at is not null`,
    sql`create table experiment_inputs (
      experiment_uid text not null, input_set_id text not null, input_id text not null,
      content_id text not null, input_format text not null,
      constraint experiment_inputs_key primary key (experiment_uid, input_set_id, input_id)
    )`,
    // Each content id belongs to one experiment, so inputs can be deleted by it.
    sql`create index experiment_inputs_by_content on experiment_inputs (content_id)`,
    sql`create table experiment_results (experiment_uid text primary key, results text not null)`,
    sql`create table unsettled_experiments (experiment_uid text primary key)`,
    sql`create table switchback_draws (
      application_uid text not null, baseline text not null, candidate text not null, plans integer not null,
      constraint switchback_draws_key primary key (application_uid, baseline, candidate)
    )`,
    sql`create table experiment_input_properties (experiment_uid text primary key, properties text not null)`,
    sql`create table experiment_events (
      seq ${sequence}, account_id text not null, data text not null, at bigint not null
    )`,
  ]);
  // The transitions of batches and of online tests together.
  await restrictStatus(db, {
    table: 'experiments',
    transitions: {
      draft: ['started'],
      started: ['completed', 'failed', 'canceled'],
      completed: [],
      failed: [],
      canceled: [],
    },
  });
};

/** Adds the verdict to the results of experiments and to acceptance tests. */
export const addVerdicts: Migration['up'] = (db) =>
  executeAll(
    db,
    ['experiment_results', 'acceptance_tests'].map(
      (table) => sql`alter table ${sql.table(table)} add column verdict text`,
    ),
  );
