/**
 * Ends batch experiments: one of which nothing is planned and nothing unfinished is looked at, and is over with what was
 * found, in one transaction. When runs end by the thousand it looks again some times a second, not for each of them.
 */
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Reader } from '../database/database.ts';
import type { Log } from '../log.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { Setbacks } from '../reconcile/setbacks.ts';
import { hasUnfinished } from '../runs/experiment-runs.ts';
import { hasPlanned } from '../runs/plan.ts';
import { findBatch, stateOf } from './batch-findings.ts';
import {
  findByUid,
  holdExperiment,
  listIdle,
  removeInputsOf,
  updateExperiment,
  writeResults,
} from './store.ts';

const EVERY_MS = 5000;
const TOGETHER_MS = 25;
const INPUTS_AT_ONCE = 500;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  log: Log;
}

export function batchAdvancer(parts: Parts): Reconciler {
  const { database, clock, log } = parts;
  const setbacks = new Setbacks(parts, 'A batch experiment could not be ended; it will be tried again.');
  const reconciler = new Reconciler({
    name: 'end batch experiments',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (const uid of await listIdle(database.read, 'batch'))
        await setbacks.attempt(uid, () => end(parts, uid));
    },
  });
  // A run that is deleted before it ended tells the workers that it is gone.
  for (const topic of ['runs-ended', 'runs-canceled'] as const)
    database.listen(topic, () => reconciler.pokeWithin(TOGETHER_MS));
  return reconciler;
}

/** What is planned is looked at first: a run that is born between the two looks is found by the second. */
async function goesOn(db: Reader, uid: string): Promise<boolean> {
  return (await hasPlanned(db, uid)) || (await hasUnfinished(db, uid));
}

async function end(parts: Parts, uid: string): Promise<void> {
  const { database, contents, clock } = parts;
  const experiment = await findByUid(database.read, uid);
  if (experiment?.status !== 'started') return;
  const before = await stateOf(database.read, experiment);
  const results = await findBatch(database.read, experiment);
  const status = (before.counts.statuses.succeeded ?? 0) > 0 ? 'completed' : 'failed';
  const blobs = await database.transact(async (tx) => {
    const held = await holdExperiment(tx, uid);
    // A run that has joined meanwhile is waited for, and one that was deleted is not in what was found: it is looked again.
    if (held?.status !== 'started' || (await goesOn(tx, uid))) return [];
    if ((await stateOf(tx, held)).key !== before.key) return null;
    const now = clock.now();
    await updateExperiment(tx, uid, { status, completed_at: now, updated_at: now }, 'started');
    await writeResults(tx, uid, results);
    const gone: string[] = [];
    for (;;) {
      const named = await removeInputsOf(tx, uid, INPUTS_AT_ONCE);
      gone.push(...(await contents.remove(tx, named)));
      if (named.length < INPUTS_AT_ONCE) return gone;
    }
  });
  if (blobs === null) return end(parts, uid);
  database.notify('experiments-ended');
  await contents.removeBlobs(blobs);
}
