/** Failures of an experiment: each error once, with its first run and the number of runs that share it. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import { parseLabels } from '../run-columns.ts';
import { IS_REFUSED } from './planned-runs.ts';

export interface RunFailure {
  instance_id: string;
  version_id: string;
  /** The ensemble of the runs; absent for runs of an instance or a version. */
  ensemble_id?: string;
  error: string;
  /** The first run that failed with it; null for planned runs that could not be submitted. */
  run_id: RunId | null;
  number_of_runs: number;
}

/** The failures of an experiment by instance, version, ensemble and error, at most `limit`, in the order of their first runs. */
export async function listRunFailures(
  db: Reader,
  experimentUid: string,
  limit: number,
): Promise<RunFailure[]> {
  const failed = await db
    .selectFrom('runs')
    .select((eb) => [
      'instance_id',
      'version_id',
      'definition_id',
      'error',
      eb.fn.min('id').as('run_id'),
      eb.fn.countAll().as('count'),
    ])
    .where(sql<boolean>`experiment_uid is not null`)
    .where('experiment_uid', '=', experimentUid)
    .where('status', '=', 'failed')
    .groupBy(['instance_id', 'version_id', 'definition_id', 'error'])
    .orderBy('run_id')
    .limit(limit)
    .execute();
  const refused = await db
    .selectFrom('planned_runs')
    .select((eb) => [
      'instance_id',
      'version_id',
      'definition_id',
      'error',
      eb.fn.min('position').as('position'),
      eb.fn.countAll().as('count'),
    ])
    .where('owner_uid', '=', experimentUid)
    .where(IS_REFUSED)
    .groupBy(['instance_id', 'version_id', 'definition_id', 'error'])
    .orderBy('position')
    .limit(limit)
    .execute();
  const rows = [...failed, ...refused.map(({ position: _, ...row }) => ({ ...row, run_id: null }))];
  return rows.slice(0, limit).map(({ count, definition_id, ...row }) => ({
    ...row,
    ...(definition_id === null ? {} : { ensemble_id: definition_id }),
    number_of_runs: Number(count),
  }));
}

/** A reason why the candidate of a switchback test refused runs. */
export interface RunRefusal {
  error: string;
  /** The first run that it refused for this reason. */
  run_id: RunId;
  number_of_runs: number;
}

/** Lists the reasons why the candidate of a switchback test refused runs, at most `limit`, in the order of their first runs. */
export async function listRunRefusals(
  db: Reader,
  experimentUid: string,
  limit: number,
): Promise<RunRefusal[]> {
  // The only labels of a run of a switchback test are those of its refusal, so equal labels are equal reasons.
  const rows = await db
    .selectFrom('runs')
    .select((eb) => ['labels', eb.fn.min('id').as('run_id'), eb.fn.countAll().as('count')])
    .where(sql<boolean>`experiment_uid is not null`)
    .where('experiment_uid', '=', experimentUid)
    .where('labels', 'is not', null)
    .groupBy('labels')
    .orderBy('run_id')
    .limit(limit)
    .execute();
  return rows.map(({ count, run_id, labels }) => ({
    error: parseLabels({ id: run_id, labels }).candidate_refusal ?? '',
    run_id,
    number_of_runs: Number(count),
  }));
}

/** Returns the error of the first planned run of the version that could not be submitted; undefined without one. */
export async function findRefusalOfVersion(
  db: Reader,
  experimentUid: string,
  version: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('planned_runs')
    .select('error')
    .where('owner_uid', '=', experimentUid)
    .where('version_id', '=', version)
    .where(IS_REFUSED)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  return row?.error;
}
