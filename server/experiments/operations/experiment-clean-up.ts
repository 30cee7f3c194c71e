/**
 * Removes deleted experiments in small transactions. Planned runs go first, so that no run starts afterwards; then the runs,
 * which a switchback test only detaches; then the inputs, and the experiment's row last. After a crash the next run of the
 * job continues.
 */
import { servesCallers } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { RunDeletion } from '../../runs/execute/cancel-and-delete.ts';
import { removeAssetBatch } from '../../runs/store/assets.ts';
import { detachRunsFromExperiment, listDeletableRuns } from '../../runs/store/experiment-runs.ts';
import { hasPlannedRuns, removePlannedRuns } from '../../runs/store/planned-runs.ts';
import { removeRoutesOfExperiment } from '../../runs/store/routes.ts';
import { listDeletedExperiments, removeExperiment, removeExperimentInputs } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Rows that a transaction removes: few enough for some milliseconds. */
const BATCH_SIZE = 100;
const EXPERIMENT_BATCH_SIZE = 20;
const INTERVAL_MS = 60_000;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
}

/** Removes deleted experiments with their planned runs, runs, inputs and routes. */
export function removeDeletedExperimentsJob(parts: Parts): Job {
  const { database, contents } = parts;
  const runDeletion = new RunDeletion(parts);

  const removeAll = async (experiment: ExperimentsTable): Promise<void> => {
    const { uid } = experiment;
    // The deletion of a test releases its instance; after a crash it is released here.
    await database.transact((tx) => removeRoutesOfExperiment(tx, uid, experiment.application_uid));
    // Planned runs that start meanwhile are not in the number of removed rows, so the loop queries the remaining rows.
    while (await hasPlannedRuns(database.read, uid))
      await database.transact((tx) => removePlannedRuns(tx, uid, BATCH_SIZE));
    if (servesCallers(experiment.kind))
      while ((await database.transact((tx) => detachRunsFromExperiment(tx, uid, BATCH_SIZE))) > 0);
    else await removeRuns(uid);
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const contentIds = await removeExperimentInputs(tx, uid, BATCH_SIZE);
        return [contentIds.length, await contents.remove(tx, contentIds)];
      });
      await contents.removeBlobs(blobs);
      if (rows < BATCH_SIZE) break;
    }
    await database.transact((tx) => removeExperiment(tx, uid));
  };
  const removeRuns = async (uid: string): Promise<void> => {
    for (;;) {
      const runs = await listDeletableRuns(database.read, uid, BATCH_SIZE);
      if (runs.length === 0) return;
      await removeAssets(runs.map(({ id }) => id));
      await runDeletion.deleteRuns(runs);
    }
  };
  const removeAssets = async (ids: Parameters<typeof removeAssetBatch>[1]): Promise<void> => {
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const contentIds = await removeAssetBatch(tx, ids, BATCH_SIZE);
        return [contentIds.length, await contents.remove(tx, contentIds)];
      });
      await contents.removeBlobs(blobs);
      if (rows < BATCH_SIZE) return;
    }
  };

  return defineJob<ExperimentsTable>(parts, {
    name: 'remove-deleted-experiments',
    wakeOn: ['experiments-deleted'],
    intervalMs: INTERVAL_MS,
    batchSize: EXPERIMENT_BATCH_SIZE,
    listRows: (limit, after) => listDeletedExperiments(database.read, after?.uid ?? '', limit),
    formatKey: (experiment) => experiment.uid,
    handleRow: removeAll,
  });
}
