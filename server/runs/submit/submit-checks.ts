/** What is checked of a new run in the transaction that inserts it, because it may have changed since it was looked up. */
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import { lockExecutable } from '../../applications/executables-store.ts';
import type { Writer } from '../../database/database.ts';
import { badRequest, quoteValue, tooManyRequests } from '../../http/errors/problem.ts';
import { lockVersionWithExecutable } from '../../versions/store.ts';
import { computeClassCapacity, countFreeSlots } from '../../workers/slots.ts';
import { lockActiveWorkers } from '../../workers/workers.ts';
import { countLoad } from '../queue/queue-order.ts';
import type { RunsTable } from '../store/schema.ts';

/**
 * The version may have been deleted since it was looked up. An executable that was replaced by a push long enough ago is
 * removed; a run of it could not be executed.
 */
export async function checkExecutable(tx: Writer, run: RunsTable): Promise<void> {
  const { application_uid: uid, version_id, executable_id: executable } = run;
  if (executable === '') return;
  if (version_id !== '') {
    const version = version_id as VersionId;
    if (await lockVersionWithExecutable(tx, { uid, version, executable })) return;
    throw badRequest(`The version ${quoteValue(version)} was deleted meanwhile; send the request again.`);
  }
  if (await lockExecutable(tx, executable)) return;
  throw badRequest(
    `The executable ${quoteValue(executable)} was replaced and removed meanwhile; send the request again.`,
  );
}

/** A run that may not wait is taken only when a slot of its class is free and nobody waits for one. */
export async function requireFreeSlot(tx: Writer, run: RunsTable, now: number): Promise<void> {
  const serving = computeClassCapacity(await lockActiveWorkers(tx, now), run.execution_class);
  const { slots, classes } = serving;
  const { busy: taken, queued } = await countLoad(tx, { classes, bound: slots });
  const free = countFreeSlots(serving, taken);
  if (queued < free) return;
  const why =
    slots === 0
      ? 'no worker that is there has one'
      : `of ${slots}, ${slots - free} are taken and ${queued} waited for`;
  throw tooManyRequests(
    `No slot of execution class ${run.execution_class} is free (${why}) and the run asked not to be queued.`,
  );
}
