/**
 * Removes deleted experiments in small steps: what is still planned first, so that nothing comes after; then the runs, those
 * of a switchback test by taking the mark off them; then what the runs were made of, and the row last. A process that dies
 * in between carries on where it was.
 */
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { Setbacks } from '../reconcile/setbacks.ts';
import { removeSomeAssets } from '../runs/assets.ts';
import { remove } from '../runs/cancel.ts';
import { listExperimentRunIds, stripMarks } from '../runs/experiment-runs.ts';
import { hasAnyPlanned, removePlanned } from '../runs/plan.ts';
import { removeRoutes } from '../runs/routes.ts';
import type { ExperimentsTable } from './schema.ts';
import { listDeletedExperiments, removeExperiment, removeInputsOf } from './store.ts';

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

export function experimentRemover(parts: Parts): Reconciler {
  const { database, contents, clock, log } = parts;

  const removeAll = async (experiment: ExperimentsTable): Promise<void> => {
    const { uid } = experiment;
    // A test that is deleted lets go of its instance at once; what a crash left is let go here.
    await database.transact((tx) => removeRoutes(tx, uid, experiment.application_uid));
    // Rows that are being born meanwhile are not counted; they are there or gone when it is looked again.
    while (await hasAnyPlanned(database.read, uid))
      await database.transact((tx) => removePlanned(tx, uid, BATCH));
    if (experiment.kind === 'switchback')
      while ((await database.transact((tx) => stripMarks(tx, uid, BATCH))) > 0);
    else await removeRuns(uid);
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const held = await removeInputsOf(tx, uid, BATCH);
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
      await remove(
        parts,
        ids.map((id) => ({ id })),
      );
    }
  };
  const removeAssets = async (ids: Parameters<typeof removeSomeAssets>[1]): Promise<void> => {
    for (;;) {
      const [rows, blobs] = await database.transact(async (tx) => {
        const held = await removeSomeAssets(tx, ids, BATCH);
        return [held.length, await contents.remove(tx, held)];
      });
      await contents.removeBlobs(blobs);
      if (rows < BATCH) return;
    }
  };

  const setbacks = new Setbacks(parts, 'A deleted experiment could not be removed; it will be tried again.');
  return new Reconciler({
    name: 'remove deleted experiments',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (let after = ''; ; ) {
        const deleted = await listDeletedExperiments(database.read, after, EXPERIMENTS_AT_ONCE);
        for (const experiment of deleted) await setbacks.attempt(experiment.uid, () => removeAll(experiment));
        after = deleted.at(-1)?.uid ?? after;
        if (deleted.length < EXPERIMENTS_AT_ONCE) return;
      }
    },
  });
}
