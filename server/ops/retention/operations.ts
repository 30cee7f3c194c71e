/** Operations on retention policies and storage. */
import type { RetentionPolicy } from '@switchyard/contract/applications/retention.ts';
import { getApplication, lockApplication } from '../../apps/applications/store.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  formatSettingTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import { computePreview } from './preview.ts';
import type { RetentionPoliciesTable } from './schema.ts';
import type { StorageMeter } from './storage-meter.ts';
import * as store from './store.ts';

declare module '../../platform/http/handlers/context.ts' {
  interface Context {
    storageMeter: StorageMeter;
    onRetentionChanged(): void;
  }
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
