/** Checks in the transaction that inserts a run: the checked rows may have changed since the request read them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { LABELS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId, SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { lockLicenses } from '../../accounts/usage/licenses-store.ts';
import { lockExecutable } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { findSecretsCollectionId, type RequestedConfiguration } from '../../apps/instances/rules.ts';
import { hasCollection } from '../../apps/secrets/store.ts';
import { lockVersionWithExecutable } from '../../apps/versions/store.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { badRequest, noCapacity, quoteValue } from '../../platform/http/errors/problem.ts';
import { countUsedTokens, filterByTokens, listTokenHolders } from '../queue/license-use.ts';
import { listLanes } from '../queue/order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from '../queue/order/read-queue.ts';
import { computeRetryTimes, isRetryDue, type RetryTimes } from '../queue/order/retry-times.ts';
import { SlotUse } from '../queue/order/slot-use.ts';
import { countBusySlots } from '../queue/queue-order.ts';
import { countFreeRuns, findRunQuota, lockFreeRuns } from '../queue/run-quota.ts';
import { describeDemand, readLicenses } from '../queue/run-requirements.ts';
import { QUEUED, type RunsTable } from '../store/schema.ts';
import { canEverServe, type WorkerOffer } from '../workers/offers.ts';
import { computeClassCapacity, countFreeSlots } from '../workers/slots.ts';
import { lockActiveWorkers } from '../workers/workers.ts';

const selectDue = prepareStatement((db, part: LanePart & RetryTimes) =>
  selectLanePart(db, part)
    .select(['id', 'priority', 'created_at', 'account_id', 'application_uid'])
    .where(isRetryDue(part)),
);

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
  const ofApplication = applications.get(uid);
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
  return noCapacity(
    `The ${owner} executes as many runs at once as its quota allows, and the run asked not to be queued. Send it again later, or leave out configuration.queuing.disabled.`,
  );
}

/** Throws a 429 when too few tokens of a licence that the run requires are free. */
async function requireFreeTokens(tx: Writer, run: RunsTable): Promise<void> {
  if (run.required_licenses === null) return;
  const { account_id } = run;
  const totals = await lockLicenses(tx, [account_id]);
  const holders = await listTokenHolders(tx);
  for (const [name, required] of Object.entries(readLicenses(run))) {
    const total = totals.find((license) => license.name === name)?.total ?? 0;
    const used = countUsedTokens(holders, { account_id, name });
    if (total - used < required)
      throw noCapacity(
        `The run requires ${required} tokens of the licence ${name}, of which ${used} of ${total} are in use, and it asked not to be queued. Send it again later, or leave out configuration.queuing.disabled.`,
      );
  }
}

/** Throws a 429 for a run that must not be queued, unless a slot of its class is free and no run could take it before. */
export async function requireFreeSlot(tx: Writer, run: RunsTable, now: number): Promise<void> {
  await requireFreeQuota(tx, run);
  await requireFreeTokens(tx, run);
  const demand = describeDemand(run);
  const workers = (await lockActiveWorkers(tx, now)).filter(({ offer }) => canEverServe(offer, demand));
  const serving = computeClassCapacity(workers, run.execution_class);
  const { slots, classes } = serving;
  // Before the busy slots: a run that starts in between counts twice, and not never.
  const offers = workers.map(({ offer }) => offer);
  const queued = await countCompetingRuns(tx, { offers, classes, bound: slots }, now);
  const free = countFreeSlots(serving, await countBusySlots(tx));
  if (queued < free.fitting) return;
  const isFitting = free.slots === 0 || free.fitting > 0;
  const reason =
    slots === 0
      ? 'no active worker that could execute the run has one'
      : `${slots - free.slots} of ${slots} are taken, ${isFitting ? '' : 'no worker has its cores and memory free, '}and ${queued} queued runs come first`;
  throw noCapacity(
    `No slot of execution class ${run.execution_class} is free (${reason}) and the run asked not to be queued. Send it again later, or leave out configuration.queuing.disabled.`,
  );
}

/**
 * Counts the queued runs of the classes that could start now on one of the offers, at most `bound`. Runs that wait for a label,
 * for tokens, for a quota or for the next attempt take no slot.
 */
async function countCompetingRuns(
  db: Reader,
  {
    offers,
    classes,
    bound,
  }: { offers: readonly WorkerOffer[]; classes: readonly ExecutionClass[]; bound: number },
  now: number,
): Promise<number> {
  const labels = [...new Set(offers.flatMap((offer) => offer.labels))];
  const listed = await listLanes(db, { classes, ...(labels.length > LABELS_MAX ? {} : { labels }) });
  const suitable = listed.filter(
    (lane) =>
      classes.includes(lane.execution_class) &&
      offers.some((offer) => canEverServe(offer, describeDemand(lane))),
  );
  const lanes = await filterByTokens(db, suitable, { areFree: true });
  const runs = await readInOrder(db, {
    ...{ lanes, limit: bound, now, use: new SlotUse() },
    free: await countFreeRuns(db, lanes.filter((lane) => lane.is_limited).map(describeDemand)),
    read: (part) => selectDue(db, { ...part, ...computeRetryTimes(now) }),
  });
  return runs.length;
}

/** Throws a 400 for a missing collection. A collection that is deleted later fails the run, not the request. */
export async function checkSecrets(
  db: Reader,
  {
    application,
    configuration,
    target,
  }: {
    application: ApplicationsTable;
    configuration: RequestedConfiguration;
    target: { instanceId: string };
  },
  id: SecretsCollectionId,
): Promise<void> {
  if (await hasCollection(db, application.uid, id)) return;
  throw badRequest(
    findSecretsCollectionId(configuration) === null
      ? `The secrets collection ${quoteValue(id)} of the instance ${quoteValue(target.instanceId)} does not exist; give the instance another.`
      : `configuration.secrets_collection_id is ${quoteValue(id)}; it must be a secrets collection of the application ${quoteValue(application.id)}.`,
  );
}
