/**
 * Removes the rows of deleted applications in batches, so that other writers wait for one batch at most. It removes runs
 * first and the application's own row last, so that the job continues after a crash. It removes a deleted account when all
 * requests from before the deletion have ended.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { listDeletedAccounts, removeAccount } from '../../accounts/account/store.ts';
import { removeApplicationQuotas } from '../../accounts/usage/application-quotas-store.ts';
import { removeUsageOfAccount } from '../../accounts/usage/store.ts';
import { removeApplicationExecutables } from '../../apps/applications/executables-store.ts';
import {
  deleteAccountApplications,
  hasApplications,
  listDeletedApplicationUids,
  removeApplication,
} from '../../apps/applications/store.ts';
import { removeInstances } from '../../apps/instances/store.ts';
import { removeSubscription } from '../../apps/marketplace/subscription-store.ts';
import { removeCollections } from '../../apps/secrets/store.ts';
import { removeUploads } from '../../apps/uploads/store.ts';
import { removeVersions } from '../../apps/versions/store.ts';
import { removeEnsembles } from '../../experiments/ensembles/store.ts';
import { removeLooksOfApplication } from '../../experiments/questions/store.ts';
import { removeAcceptanceTestsOfApplication } from '../../experiments/store/acceptance-tests.ts';
import {
  removeExperimentInputsOfApplication,
  removeExperimentsOfApplication,
} from '../../experiments/store/experiments.ts';
import { removePlanDrawsOfApplication } from '../../experiments/store/plan-draws.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { RunDeletion } from '../../runs/execute/cancel-and-delete.ts';
import { removeInputSetInputs, removeInputSets } from '../../runs/input-sets/store.ts';
import { removeInputs } from '../../runs/inputs/store.ts';
import { removeAssetBatch } from '../../runs/store/assets.ts';
import { removePlannedRunsOfApplication } from '../../runs/store/planned-runs.ts';
import { removeRoutesOfApplication } from '../../runs/store/routes.ts';
import { listRunIds } from '../../runs/store/runs.ts';
import { removeViews } from '../../runs/views/store.ts';
import { removePolicy } from '../retention/store.ts';

/** Keeps a transaction within some milliseconds. */
const BATCH_SIZE = 100;
const INTERVAL_MS = 60_000;
/** Longer than the duration of any request. */
const ACCOUNT_RETENTION_MS = 60 * 60 * 1000;

/** Removes at most `limit` rows of the application. Returns the content id of each, or null. */
type Removal = (tx: Writer, applicationUid: string, limit: number) => Promise<(string | null)[]>;

/** One for each table with rows of an application, except the tables of runs. */
const REMOVALS: readonly Removal[] = [
  removePlannedRunsOfApplication,
  removeAcceptanceTestsOfApplication,
  removeRoutesOfApplication,
  removeEnsembles,
  removeExperimentInputsOfApplication,
  removeExperimentsOfApplication,
  removePlanDrawsOfApplication,
  // After the experiments: a look is stored only while its experiment exists.
  removeLooksOfApplication,
  removeInputSetInputs,
  removeInputSets,
  removeInputs,
  removeInstances,
  removeCollections,
  removeVersions,
  removeApplicationExecutables,
  removeUploads,
];

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
}

/** Deleted applications first: an account is removed once it has none. */
type DeletedRow =
  | { kind: 'application'; uid: string }
  | { kind: 'account'; id: AccountId; deletedAt: number };

/** Removes the rows and blobs of deleted applications, then accounts that were deleted an hour ago. */
export function removeDeletedApplicationsJob(parts: Parts): Job {
  const { database, contents, clock } = parts;
  const runDeletion = new RunDeletion(parts);

  const removeAll = async (removeBatch: (tx: Writer) => Promise<(string | null)[]>): Promise<void> => {
    for (;;) {
      const removed = await database.transact(async (tx) => {
        const named = await removeBatch(tx);
        return { rows: named.length, blobs: await contents.remove(tx, named) };
      });
      await contents.removeBlobs(removed.blobs);
      if (removed.rows < BATCH_SIZE) return;
    }
  };
  const removeRuns = async (uid: string): Promise<void> => {
    for (;;) {
      const runs = await listRunIds(database.read, uid, BATCH_SIZE);
      if (runs.length === 0) return;
      await removeAll((tx) => removeAssetBatch(tx, runs, BATCH_SIZE));
      await runDeletion.deleteRuns(runs.map((id) => ({ id })));
    }
  };

  const removeApplicationWithRows = async (uid: string): Promise<void> => {
    await removeRuns(uid);
    for (const removal of REMOVALS) await removeAll((tx) => removal(tx, uid, BATCH_SIZE));
    await database.transact(async (tx) => {
      await removeSubscription(tx, uid);
      await removePolicy(tx, uid);
      await removeApplicationQuotas(tx, uid);
      await removeViews(tx, uid);
      await removeApplication(tx, uid);
    });
  };

  /** Also removes applications that a request under way created after the deletion. */
  const removeAccountWithApplications = async (id: AccountId, deletedAt: number): Promise<void> => {
    await database.transact((tx) => deleteAccountApplications(tx, id, clock.now()));
    const isOld = clock.now() - deletedAt >= ACCOUNT_RETENTION_MS;
    if (isOld && !(await hasApplications(database.read, id)))
      await database.transact(async (tx) => {
        await removeUsageOfAccount(tx, id);
        await removeAccount(tx, id);
      });
  };

  return defineJob<DeletedRow>(parts, {
    name: 'remove-deleted-applications',
    wakeOn: ['applications-deleted'],
    intervalMs: INTERVAL_MS,
    listRows: async () => [
      ...(await listDeletedApplicationUids(database.read)).map(
        (uid) => ({ kind: 'application', uid }) as const,
      ),
      ...(await listDeletedAccounts(database.read)).map(
        ({ id, deleted_at }) => ({ kind: 'account', id, deletedAt: deleted_at ?? 0 }) as const,
      ),
    ],
    formatKey: (row) => (row.kind === 'application' ? row.uid : row.id),
    handleRow: (row) =>
      row.kind === 'application'
        ? removeApplicationWithRows(row.uid)
        : removeAccountWithApplications(row.id, row.deletedAt),
  });
}
