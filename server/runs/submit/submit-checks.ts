/** Checks in the transaction that inserts a run: the checked rows may have changed since the request read them. */
import type { AccountId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { lockExecutable } from '../../applications/executables-store.ts';
import type { Writer } from '../../database/database.ts';
import { badRequest, quoteValue, tooManyRequests } from '../../http/errors/problem.ts';
import { lockVersionWithExecutable } from '../../versions/store.ts';
import { computeClassCapacity, countFreeSlots } from '../../workers/slots.ts';
import { lockActiveWorkers } from '../../workers/workers.ts';
import { countLoad } from '../queue/queue-order.ts';
import { findRunQuota, lockFreeRuns } from '../queue/run-quota.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED } from '../store/status-literals.ts';

/**
 * Locks the version or executable of the run. Throws a 400 when it was removed since the request read it; such a run could
 * not be executed. A job removes an executable some time after a push has replaced it.
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

/** Throws a 429 when the runs of the account or of the application, running and queued, use up a quota of runs at once. */
async function requireFreeQuota(tx: Writer, run: RunsTable): Promise<void> {
  const { account_id: account, application_uid: uid } = run;
  if ((await findRunQuota(tx, { account, applicationUid: uid })) === null) return;
  const { accounts, applications } = await lockFreeRuns(tx);
  const ofAccount = accounts.get(account);
  const ofApplication = applications.get(account)?.get(uid);
  if (ofAccount !== undefined && !(await hasFewerQueued(tx, { account, uid: null }, ofAccount)))
    throw refuseForQuota('account');
  if (ofApplication !== undefined && !(await hasFewerQueued(tx, { account, uid }, ofApplication)))
    throw refuseForQuota('application');
}

/** Returns true if fewer runs than `free` are queued in the account, or in the application of the uid. */
async function hasFewerQueued(
  tx: Writer,
  { account, uid }: { account: AccountId; uid: string | null },
  free: number,
): Promise<boolean> {
  let query = tx
    .selectFrom('runs')
    .select('id')
    .where('status', '=', QUEUED)
    .where('account_id', '=', account)
    .limit(free);
  if (uid !== null) query = query.where('application_uid', '=', uid);
  return (await query.execute()).length < free;
}

function refuseForQuota(owner: 'account' | 'application') {
  return tooManyRequests(
    `The ${owner} executes as many runs at once as its quota allows, and the run asked not to be queued. Send it again later, or leave out configuration.queuing.disabled.`,
  );
}

/** Throws a 429 for a run that must not be queued, unless a slot of its class is free and no run waits for it. */
export async function requireFreeSlot(tx: Writer, run: RunsTable, now: number): Promise<void> {
  await requireFreeQuota(tx, run);
  const serving = computeClassCapacity(await lockActiveWorkers(tx, now), run.execution_class);
  const { slots, classes } = serving;
  const { busy, queued } = await countLoad(tx, { classes, bound: slots });
  const free = countFreeSlots(serving, busy);
  if (queued < free) return;
  const reason =
    slots === 0
      ? 'no active worker has one'
      : `${slots - free} of ${slots} are taken, and ${queued} queued runs come first`;
  throw tooManyRequests(
    `No slot of execution class ${run.execution_class} is free (${reason}) and the run asked not to be queued. Send it again later, or leave out configuration.queuing.disabled.`,
  );
}
