/**
 * Removes deleted experiments in small steps: what is still planned first, so that nothing comes after; then the runs, those
 * of a switchback test by taking the mark off them; then what the runs were made of, and the row last. A process that dies
 * in between carries on where it was.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { Reconciler } from '../../jobs/reconciler.ts';
import { RowBackoff } from '../../jobs/row-backoff.ts';
import type { Log } from '../../log.ts';
import { deleteRuns } from '../../runs/execute/cancel-and-delete.ts';
import { removeAssetBatch } from '../../runs/store/assets.ts';
import { detachRunsFromExperiment, listExperimentRunIds } from '../../runs/store/experiment-runs.ts';
import { hasPlannedRuns, removePlannedRuns } from '../../runs/store/planned-runs.ts';
import { removeRoutesOfExperiment } from '../../runs/store/routes.ts';
import { listDeletedExperiments, removeExperiment, removeExperimentInputs } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Keeps a transaction within some milliseconds. */
const BATCH = 100;
const EXPERIMENTS_AT_ONCE = 20;
const EVERY_MS = 60_000;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  log: Log;
}

export function cleanUpExperimentsJob(parts: Parts): Reconciler {
  const { database, contents, clock, log } = parts;

  const removeAll = async (experiment: ExperimentsTable): Promise<void> => {
    const { uid } = experiment;
    // A test that is deleted lets go of its instance at once; what a crash left is let go here.
    await database.transact((tx) => removeRoutesOfExperiment(tx, uid, experiment.application_uid));
    // Rows that are being born meanwhile are not counted; they are there or gone when it is looked again.
    while (await hasPlannedRuns(database.read, uid))
      await database.transact((tx) => removePlannedRuns(tx, uid, BATCH));
    if (experiment.kind === 'switchback')
      while ((await database.transact((tx) => detachRunsFromExperiment(tx, uid, BATCH))) > 0);
    else await removeRuns(uid);
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const held = await removeExperimentInputs(tx, uid, BATCH);
        return [held.length, await contents.remove(tx, held)];
      });
      await contents.removeBlobs(blobs);
      if (rows < BATCH) break;
    }
    await database.transact((tx) => removeExperiment(tx, uid));
  };
  const removeRuns = async (uid: string): Promise<void> => {
    for (;;) {
      const ids = await listExperimentRunIds(database.read, uid, BATCH);
      if (ids.length === 0) return;
      await removeAssets(ids);
      await deleteRuns(
        parts,
        ids.map((id) => ({ id })),
      );
    }
  };
  const removeAssets = async (ids: Parameters<typeof removeAssetBatch>[1]): Promise<void> => {
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const held = await removeAssetBatch(tx, ids, BATCH);
        return [held.length, await contents.remove(tx, held)];
      });
      await contents.removeBlobs(blobs);
      if (rows < BATCH) return;
    }
  };

  const setbacks = new RowBackoff(
    parts,
    'A deleted experiment could not be removed; it will be tried again.',
  );
  return new Reconciler({
    name: 'remove deleted experiments',
    intervalMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (let after = ''; ; ) {
        const deleted = await listDeletedExperiments(database.read, after, EXPERIMENTS_AT_ONCE);
        for (const experiment of deleted) await setbacks.run(experiment.uid, () => removeAll(experiment));
        after = deleted.at(-1)?.uid ?? after;
        if (deleted.length < EXPERIMENTS_AT_ONCE) return;
      }
    },
  });
}
