/** Decides whether a retention policy deletes a run. Pure. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { SqlBool } from 'kysely';
import type { RunsTable } from '../../runs/store/schema.ts';

/** Facts of a run that decide. */
export interface RunFacts
  extends Pick<RunsTable, 'name' | 'created_at' | 'finished_at' | 'experiment_uid' | 'run_type'> {
  id: RunId;
  is_tagged: SqlBool;
  /** A child run of this ensemble run has a tag: deleting the ensemble run would delete the child run. */
  has_tagged_child: SqlBool;
  /** The run whose child or copy it is still exists. */
  has_parent: SqlBool;
  /** A shadow test is to copy the run. */
  is_captured: SqlBool;
  /** A replay of the run is not compared yet, or the run is such a replay. */
  is_replayed: SqlBool;
  has_active_experiment: SqlBool;
  /** A share link shows the run or a child of it. It stops working by itself, so it only delays the deletion. */
  is_shared: SqlBool;
}

/** The rule of a policy. */
export interface RetentionRule {
  keepDays: number;
  keepExperimentRuns: boolean;
}

/** Reasons why a run stays, or `expired`. A run that is not old enough is `recent`. */
export type RunRetention = 'expired' | 'recent' | 'tagged' | 'of_experiment' | 'in_use';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the instant before which a run ended that is old enough. */
export function computeCutoff({ keepDays }: Pick<RetentionRule, 'keepDays'>, now: number): number {
  return now - keepDays * DAY_MS;
}

/** Returns `expired` for a run that the rule deletes at the given time, or the reason why it stays. */
export function classifyRun(run: RunFacts, rule: RetentionRule, now: number): RunRetention {
  if (run.finished_at === null) return 'in_use';
  if (run.finished_at >= computeCutoff(rule, now)) return 'recent';
  if (run.is_tagged || run.has_tagged_child) return 'tagged';
  if (run.experiment_uid !== null && rule.keepExperimentRuns) return 'of_experiment';
  const isInUse =
    run.has_active_experiment || run.has_parent || run.is_captured || run.is_replayed || run.is_shared;
  return isInUse ? 'in_use' : 'expired';
}
