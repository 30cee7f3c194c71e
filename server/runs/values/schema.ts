/** The tables of the values by which lists of runs filter and sort. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';
import { encodeText } from './encode-value.ts';
import { ENSEMBLE_FIELD, TAG_FIELD } from './list-run-values.ts';
import { hashField } from './run-values.ts';

/**
 * A value of a run that is neither queued nor running. Two orders serve all lists: by value, which filters for one value
 * and sorts, and by time, which finds the newest runs with many different values.
 */
interface RunValuesTable {
  /** Hash of the application and the field (run-values.ts). */
  field: number;
  /** The creation time of the run. */
  created_at: number;
  run_id: RunId;
  /** Encoded by encode-value.ts. */
  value: string;
}

/** An application with runs whose values are not stored yet, from before the table existed. */
interface RunBackfillsTable {
  application_uid: string;
  /** The position of the last run that was read; those before it follow. */
  created_at: number;
  run_id: string;
}

declare module '../../database/database.ts' {
  interface Tables {
    run_values: RunValuesTable;
    run_backfills: RunBackfillsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0081-values-of-runs',
    async up(db, types) {
      await db.schema
        .createTable('run_values')
        .addColumn('field', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('run_id', types.orderedText, (column) => column.notNull())
        .addColumn('value', types.orderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('run_values_key', ['field', 'created_at', 'run_id', 'value'])
        .modifyEnd(types.clustered)
        .execute();
      await db.schema
        .createIndex('run_values_by_value')
        .on('run_values')
        .columns(['field', 'value', 'created_at', 'run_id'])
        .execute();
      await db.schema
        .createTable('run_backfills')
        .addColumn('application_uid', 'text', (column) => column.primaryKey())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('run_id', 'text', (column) => column.notNull())
        .execute();
      // A job reads the runs, because a million of them would keep the server from starting for minutes.
      await sql`insert into run_backfills (application_uid, created_at, run_id)
        select uid, ${sql.lit(Number.MAX_SAFE_INTEGER)}, '' from applications`.execute(db);
    },
  },
  {
    name: '0124-values-of-run-tags',
    async up(db) {
      // Tags are set by people, one run at a time, so there are few.
      const tags = sql<{ id: RunId; application_uid: string; created_at: number; tag: string }>`
        select runs.id, runs.application_uid, runs.created_at, run_tags.tag
        from run_tags join runs on runs.id = run_tags.run_id`;
      for (const { id, application_uid, created_at, tag } of (await tags.execute(db)).rows)
        await sql`insert into run_values (field, created_at, run_id, value)
          values (${hashField(application_uid, TAG_FIELD)}, ${created_at}, ${id}, ${encodeText(tag)})`.execute(
          db,
        );
    },
  },
  {
    name: '0130-values-of-ensembles',
    async up(db) {
      // An ended run has its values; a job still writes those of an application whose values are not complete.
      const ended = sql<{ id: RunId; application_uid: string; created_at: number; definition_id: string }>`
        select id, application_uid, created_at, definition_id from runs
        where definition_id is not null and status not in ('queued', 'running')`;
      for (const { id, application_uid, created_at, definition_id } of (await ended.execute(db)).rows)
        await sql`insert into run_values (field, created_at, run_id, value)
          values (${hashField(application_uid, ENSEMBLE_FIELD)}, ${created_at}, ${id}, ${encodeText(definition_id)})
          on conflict do nothing`.execute(db);
    },
  },
  {
    name: '0172-queue-of-an-application',
    async up(db) {
      // Filtered lists read queued runs in the order of time, of all priorities. With the column alone PostgreSQL sometimes
      // chose runs_by_age, and read all runs of the application.
      await sql`create index runs_queued_of_application on runs ((application_uid || ''), created_at, id) where status = 'queued'`.execute(
        db,
      );
    },
  },
];
