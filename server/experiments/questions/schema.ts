/** The table of questions that were asked: which experiment compared which sides on which inputs, by which rules. */
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';
import type { QuestionType } from './rules.ts';

/** A look at a question. The row outlives its experiment, so that a repeated question is known after a deletion. */
export interface QuestionLooksTable {
  /** The uid of the experiment, or of the acceptance test. */
  experiment_uid: string;
  /** Hash of both sides, in either order. */
  question: string;
  application_uid: string;
  type: QuestionType;
  experiment_id: string;
  /** The uid of the experiment whose runs were compared: that of the batch for an acceptance test. */
  runs_uid: string;
  /** `QuestionRules` in JSON. */
  rules: string;
  /** Hashes of the input contents: see input-hashes.ts. */
  inputs: string;
  /** Hash of `inputs`, which changes with them. */
  inputs_hash: string;
  /** The time of the creation of the experiment, and of the first results that somebody could read. */
  created_at: number;
  known_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table question_looks (
      experiment_uid text not null, question text not null, application_uid text not null, type text not null,
      experiment_id text not null, runs_uid text not null, rules text not null, inputs text not null,
      created_at bigint not null, known_at bigint not null, inputs_hash text not null,
      constraint question_looks_key primary key (experiment_uid, question)
    )`,
    sql`create index question_looks_by_question on question_looks (application_uid, question, known_at)`,
    sql`create index question_looks_by_age on question_looks (application_uid, known_at)`,
  ]);
