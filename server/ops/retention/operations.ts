/** Operations on retention policies and storage. */
import type { RetentionPolicy, RetentionPreview } from '@switchyard/contract/applications/retention.ts';
import { RETENTION_EXAMPLES_MAX, RETENTION_PREVIEW_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { getApplication, lockApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  formatSettingTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import { classifyRun, computeCutoff, type RetentionRule, type RunFacts } from './classify-run.ts';
import type { RetentionPoliciesTable } from './schema.ts';
import * as store from './store.ts';
import { listOldRuns, sumRunBytes } from './store.ts';

/** Each statement takes some milliseconds; other requests run between two. */
const BATCH_SIZE = 500;

/** Returns the runs of the application that the rule would delete now. */
async function computePreview(
  db: Reader,
  applicationUid: string,
  rule: RetentionRule,
  now: number,
): Promise<RetentionPreview> {
  const retained = { tagged: 0, of_experiments: 0, in_use: 0 };
  const examples: RunFacts[] = [];
  let [runs, bytes, seen] = [0, 0, 0];
  let newest: RunFacts | undefined;
  let last: RunFacts | null = null;
  for (;;) {
    const at = { applicationUid, before: computeCutoff(rule, now) };
    const batch: RunFacts[] = await listOldRuns(db, at, last, BATCH_SIZE);
    const expired: RunFacts[] = [];
    for (const run of batch) {
      const retention = classifyRun(run, rule, now);
      if (retention === 'expired') expired.push(run);
      else if (retention === 'tagged') retained.tagged += 1;
      else if (retention === 'of_experiment') retained.of_experiments += 1;
      else if (retention === 'in_use') retained.in_use += 1;
    }
    runs += expired.length;
    bytes += await sumRunBytes(
      db,
      expired.map(({ id }) => id),
    );
    examples.push(...expired.slice(0, RETENTION_EXAMPLES_MAX - examples.length));
    newest = expired.at(-1) ?? newest;
    seen += batch.length;
    last = batch.at(-1) ?? last;
    if (batch.length < BATCH_SIZE || seen >= RETENTION_PREVIEW_RUNS_MAX) {
      const [oldest] = examples;
      return {
        runs,
        bytes,
        retained,
        oldest: oldest ? formatRfc3339(oldest.created_at) : null,
        newest: newest ? formatRfc3339(newest.created_at) : null,
        examples: examples.map(formatExample),
        is_complete: batch.length < BATCH_SIZE,
      };
    }
  }
}

function formatExample({ id, name, created_at, finished_at }: RunFacts) {
  return {
    id,
    name,
    created_at: formatRfc3339(created_at),
    finished_at: formatRfc3339(finished_at ?? created_at),
  };
}

export const getRetention: OperationHandler<'getRetention'> = async ({ database }, { caller, params }) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return { status: 200, body: formatPolicy(await store.findPolicy(database.read, application.uid)) };
};

export const setRetention: OperationHandler<'setRetention'> = async (
  { database, clock, onRetentionChanged },
  { caller, params, body, commitThen },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return commitThen(
    async (tx) => {
      await lockApplication(tx, application);
      const updated_at = (await store.findPolicy(tx, application.uid))?.updated_at ?? null;
      requireSettingUnchanged(
        { noun: `retention policy of the application ${quoteValue(application.id)}`, updatedAt: updated_at },
        body,
      );
      const policy: RetentionPoliciesTable = {
        application_uid: application.uid,
        keep_days: body.keep_days,
        keep_experiment_runs: body.keep_experiment_runs === false ? 0 : 1,
        updated_at: computeUpdateTime(clock.now(), { updated_at }),
      };
      await store.upsertPolicy(tx, policy);
      return policy;
    },
    (policy) => {
      onRetentionChanged();
      return { status: 200, body: formatPolicy(policy) };
    },
  );
};

export const previewRetention: OperationHandler<'previewRetention'> = async (
  { database, clock },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const policy = formatPolicy(await store.findPolicy(database.read, application.uid));
  const keepDays = query.keep_days ?? policy.keep_days;
  if (keepDays === null)
    throw badRequest('keep_days is missing, and the application has no policy; give a number of days.');
  const rule = { keepDays, keepExperimentRuns: query.keep_experiment_runs ?? policy.keep_experiment_runs };
  return { status: 200, body: await computePreview(database.read, application.uid, rule, clock.now()) };
};

export const getStorage: OperationHandler<'getStorage'> = async ({ storageMeter }, { caller }) => ({
  status: 200,
  body: await storageMeter.measure(caller.account),
});

function formatPolicy(policy: RetentionPoliciesTable | undefined): RetentionPolicy {
  return {
    keep_days: policy?.keep_days ?? null,
    keep_experiment_runs: policy?.keep_experiment_runs !== 0,
    updated_at: formatSettingTime(policy?.updated_at),
  };
}
