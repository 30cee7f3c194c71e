/** What is checked of a new run in the transaction that inserts it, because it may have changed since it was looked up. */
import type { VersionId } from '@switchyard/contract/ids.ts';
import { holdExecutable } from '../applications/executables-store.ts';
import type { Writer } from '../database/database.ts';
import { badRequest, busy, shown } from '../http/problem.ts';
import { freeSlots, servingOf } from '../queue/pools.ts';
import { lockLivingWorkers } from '../queue/workers.ts';
import { holdVersionOf } from '../versions/store.ts';
import type { RunsTable } from './schema.ts';
import { countLoad } from './turns.ts';

/**
 * The version may have been deleted since it was looked up. An executable that was replaced by a push long enough ago is
 * removed; a run of it could not be executed.
 */
export async function checkExecutable(tx: Writer, run: RunsTable): Promise<void> {
  const { application_uid: uid, version_id, executable_id: executable } = run;
  if (executable === '') return;
  if (version_id !== '') {
    const version = version_id as VersionId;
    if (await holdVersionOf(tx, { uid, version, executable })) return;
    throw badRequest(`The version ${shown(version)} was deleted meanwhile; send the request again.`);
  }
  if (await holdExecutable(tx, executable)) return;
  throw badRequest(
    `The executable ${shown(executable)} was replaced and removed meanwhile; send the request again.`,
  );
}

/** A run that may not wait is taken only when a slot of its class is free and nobody waits for one. */
export async function refuseWhenFull(tx: Writer, run: RunsTable, now: number): Promise<void> {
  const serving = servingOf(await lockLivingWorkers(tx, now), run.execution_class);
  const { slots, classes } = serving;
  const { busy: taken, queued } = await countLoad(tx, { classes, bound: slots });
  const free = freeSlots(serving, taken);
  if (queued < free) return;
  const why =
    slots === 0
      ? 'no worker that is there has one'
      : `of ${slots}, ${slots - free} are taken and ${queued} waited for`;
  throw busy(
    `No slot of execution class ${run.execution_class} is free (${why}) and the run asked not to be queued.`,
  );
}
