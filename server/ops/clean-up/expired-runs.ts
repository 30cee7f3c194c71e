/**
 * Removes the runs that retention policies delete. Each step is one transaction: it locks the policy and the runs, checks
 * the runs again, deletes those that are still expired, and writes the audit entry. So a change of the policy or a new tag
 * takes effect at once, and a crash leaves whole steps.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { systemEntry } from '../../accounts/audit/entry.ts';
import { insertEntry } from '../../accounts/audit/store.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { Random } from '../../platform/random.ts';
import { RunDeletion } from '../../runs/execute/cancel-and-delete.ts';
import { lockRuns } from '../../runs/tags/store.ts';
import { classifyRun, computeCutoff, type RunFacts } from '../retention/classify-run.ts';
import type { RetentionPoliciesTable } from '../retention/schema.ts';
import {
  type ActivePolicy,
  findRunFacts,
  listActivePolicies,
  listOldRuns,
  lockPolicy,
  type RunPosition,
} from '../retention/store.ts';

const INTERVAL_MS = 10 * 60 * 1000;
/** Runs of one look, and of one transaction: other writers wait for some milliseconds. */
const BATCH_SIZE = 500;
const STEP_SIZE = 50;
/** Batches of one application in one run of the job, so that it ends. The next run continues. */
const BATCHES_MAX = 100;
/** A pass that found only runs that stay is not repeated for this time, unless the policy changes. */
const RESCAN_MS = 24 * 60 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
  random: Random;
}

/** The place up to which all runs of an application stay, as long as the policy is the same. */
interface Progress {
  policyUpdatedAt: number;
  startedAt: number;
  position: RunPosition | null;
}

/** Deletes expired runs of applications with a retention policy. */
export function removeExpiredRunsJob(parts: Parts): Job {
  const { database, clock } = parts;
  const progressByApplication = new Map<string, Progress>();

  const findProgress = (policy: ActivePolicy): Progress => {
    const known = progressByApplication.get(policy.application_uid);
    const isCurrent =
      known?.policyUpdatedAt === policy.updated_at && clock.now() - known.startedAt < RESCAN_MS;
    return isCurrent ? known : { policyUpdatedAt: policy.updated_at, startedAt: clock.now(), position: null };
  };

  const applyPolicy = async (policy: ActivePolicy): Promise<void> => {
    const progress = findProgress(policy);
    const at = {
      applicationUid: policy.application_uid,
      before: computeCutoff({ keepDays: policy.keep_days }, clock.now()),
    };
    for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
      const runs = await listOldRuns(database.read, at, progress.position, BATCH_SIZE);
      const expired = runs.filter((run) => isExpired(run, policy, clock.now()));
      for (let from = 0; from < expired.length; from += STEP_SIZE)
        await removeStep(parts, policy, expired.slice(from, from + STEP_SIZE));
      progress.position = runs.at(-1) ?? progress.position;
      if (runs.length < BATCH_SIZE) break;
    }
    progressByApplication.set(policy.application_uid, progress);
  };

  return defineJob<ActivePolicy>(parts, {
    name: 'remove-expired-runs',
    wakeOn: ['retention-changed'],
    intervalMs: INTERVAL_MS,
    listRows: () => listActivePolicies(database.read),
    formatKey: (policy) => policy.application_uid,
    handleRow: applyPolicy,
  });
}

function isExpired(run: RunFacts, policy: RetentionPoliciesTable, now: number): boolean {
  if (policy.keep_days === null) return false;
  const rule = { keepDays: policy.keep_days, keepExperimentRuns: policy.keep_experiment_runs === 1 };
  return classifyRun(run, rule, now) === 'expired';
}

/** Deletes those of the runs that are still expired under the current policy. */
async function removeStep(parts: Parts, policy: ActivePolicy, runs: readonly RunFacts[]): Promise<void> {
  const { database } = parts;
  const runDeletion = new RunDeletion(parts);
  const removed = await database.transact(async (tx) => {
    const due = await lockDueRuns(
      parts,
      tx,
      policy.application_uid,
      runs.map(({ id }) => id),
    );
    if (due.length === 0) return null;
    await insertEntry(tx, createEntry(parts, policy, due));
    return runDeletion.removeRows(tx, due);
  });
  if (removed) await runDeletion.finish(removed);
}

async function lockDueRuns(
  { clock }: Parts,
  tx: Writer,
  applicationUid: string,
  ids: readonly RunId[],
): Promise<RunFacts[]> {
  const policy = await lockPolicy(tx, applicationUid);
  if (!policy) return [];
  const facts = await findRunFacts(tx, await lockRuns(tx, ids));
  return facts.filter((run) => isExpired(run, policy, clock.now()));
}

function createEntry({ random, clock }: Parts, policy: ActivePolicy, runs: readonly RunFacts[]) {
  const { account_id, application_id, keep_days } = policy;
  const resource = {
    application_id,
    run_count: String(runs.length),
    run_ids: runs.map(({ id }) => id).join(' '),
    keep_days: String(keep_days),
  };
  const entry = systemEntry({ random, now: clock.now() }, 'removeExpiredRuns', account_id, resource);
  return { ...entry, application_id };
}
