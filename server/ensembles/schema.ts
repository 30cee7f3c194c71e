/** The tables of ensemble definitions, and of those that planned runs name. The table of runs holds ensemble runs, each with its own copy of the definition. */
import type { EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

export interface EnsemblesTable {
  uid: string;
  application_uid: string;
  id: EnsembleId;
  name: string;
  description: string;
  /** An EnsembleDefinition (definition.ts), in JSON. */
  definition: string;
  created_at: number;
  updated_at: number;
}

/** A definition of the planned runs of an experiment: see planned-ensembles.ts. */
interface PlannedEnsemblesTable {
  /** The experiment. */
  owner_uid: string;
  ensemble_id: string;
  /** An EnsembleDefinition (definition.ts), in JSON. */
  definition: string;
}

declare module '../database/database.ts' {
  interface Tables {
    ensembles: EnsemblesTable;
    planned_ensembles: PlannedEnsemblesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0027-ensembles',
    async up(db) {
      await db.schema
        .createTable('ensembles')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('ensembles_by_id', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('ensembles_by_age')
        .on('ensembles')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
      for (const column of ['ensemble', 'rules_result'] as const)
        await db.schema.alterTable('runs').addColumn(column, 'text').execute();
      // Unfinished runs are few, however many have ended, so partial indices stay small.
      await sql`create index runs_ensembles_running on runs (id) where status = 'running' and run_type = 'ensemble'`.execute(
        db,
      );
      await sql`create index runs_unfinished_of_parent on runs (parent_run_id) where parent_run_id is not null and finished_at is null`.execute(
        db,
      );
    },
  },
  {
    name: '0068-planned-ensembles',
    async up(db) {
      await db.schema.alterTable('planned_runs').addColumn('definition_id', 'text').execute();
      await db.schema
        .createTable('planned_ensembles')
        .addColumn('owner_uid', 'text', (column) => column.notNull())
        .addColumn('ensemble_id', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('planned_ensembles_key', ['owner_uid', 'ensemble_id'])
        .execute();
    },
  },
];
