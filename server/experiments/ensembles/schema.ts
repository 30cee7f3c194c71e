/** The tables of ensemble definitions, and of those that planned runs name. The table of runs holds ensemble runs, each with its own copy of the definition. */
import type { EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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
export interface PlannedEnsemblesTable {
  /** The experiment. */
  owner_uid: string;
  ensemble_id: string;
  /** An EnsembleDefinition (definition.ts), in JSON. */
  definition: string;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table ensembles (
      uid text primary key, application_uid text not null, id text not null, name text not null,
      description text not null, definition text not null, created_at bigint not null,
      updated_at bigint not null, constraint ensembles_by_id unique (application_uid, id)
    )`,
    sql`create index ensembles_by_age on ensembles (application_uid, created_at, id)`,
    sql`create table planned_ensembles (
      owner_uid text not null, ensemble_id text not null, definition text not null,
      constraint planned_ensembles_key primary key (owner_uid, ensemble_id)
    )`,
  ]);
