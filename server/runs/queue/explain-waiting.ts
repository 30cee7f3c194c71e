/** Explains why queued runs have not started, from the rows of the queue, the workers and the licences. */
import { PREDICTED_STARTS_MAX, QUEUE_POSITION_MAX } from '@switchyard/contract/limits.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { listLicenses } from '../../accounts/usage/licenses-store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { Demand } from '../workers/offers.ts';
import { computeClassCapacity, countFreeSlots } from '../workers/slots.ts';
import { type ActiveWorker, listActiveWorkers } from '../workers/workers.ts';
import { formatLicense, listTokenHolders } from './license-use.ts';
import { findSuitable } from './obstacles.ts';
import { readSlotUse, type SlotUse } from './order/slot-use.ts';
import { countRunsBefore } from './places.ts';
import { findPredictedStarts } from './prediction/predicted-starts.ts';
import { countBusySlots, countWorkflows, listSlotHolders } from './queue-order.ts';
import { findRunQuota, type QuotaUse } from './run-quota.ts';
import { describeDemand, readLicenses } from './run-requirements.ts';
import { describeWaiting, type QueuedRun, type Situation } from './waiting-reason.ts';

/** Returns true if the server can start a worker that could execute the run. */
export type CanProvision = (demand: Demand) => boolean;

/** Explains one queued run. */
export async function explainWaitingRun(
  db: Reader,
  run: QueuedRun,
  now: number,
  canProvision: CanProvision,
): Promise<Waiting> {
  const workers = await listActiveWorkers(db, now);
  const { serving, ...fixed } = findServing(workers, run, canProvision);
  const findBefore = await countRunsBefore(db, { runs: [run], classes: serving.classes, workers }, now);
  const busy = await countBusySlots(db);
  const holders = countFreeSlots(serving, busy).slots === 0 ? await listSlotHolders(db) : [];
  const waiting = describeWaiting(run, {
    ...{
      serving,
      ...fixed,
      busy,
      before: findBefore(run),
      holders,
      slotUse: formatUse(await readSlotUse(db, now), run),
    },
    quota: await findRunQuota(db, { account: run.account_id, applicationUid: run.application_uid }),
    ...(await loadRequirements(db, run.account_id, [run]))(run),
    account: run.account_id,
    now,
  });
  const explained = await addPredictedStarts(db, { runs: [run], reasons: new Map([[run.id, waiting]]) }, now);
  return explained.get(run.id) ?? waiting;
}

/** Returns the slots of the workers that could execute the run, or why there are none. */
function findServing(
  workers: readonly ActiveWorker[],
  run: QueuedRun,
  canProvision: CanProvision,
): Pick<Situation, 'serving' | 'obstacle' | 'canProvision'> {
  const demand = describeDemand(run);
  const can = canProvision(demand);
  const { suitable, obstacle } = findSuitable(workers, demand, can);
  const serving = computeClassCapacity(suitable.length > 0 ? suitable : workers, run.execution_class);
  return { serving, obstacle, canProvision: can };
}

/** Reads the licences and workflows, as far as one of the runs depends on them, and returns those of a run. */
async function loadRequirements(
  db: Reader,
  account: AccountId,
  runs: readonly QueuedRun[],
): Promise<(run: QueuedRun) => Pick<Situation, 'licenses' | 'workflows'>> {
  const hasLicenses = runs.some((run) => run.required_licenses !== null);
  const hasWorkflows = runs.some((run) => run.api_access !== null);
  const licenses = hasLicenses ? await listLicenses(db, account) : [];
  const holders = hasLicenses ? await listTokenHolders(db) : [];
  const workflows = hasWorkflows ? await countWorkflows(db) : [];
  return (run) => ({
    licenses: Object.entries(readLicenses(run)).map(([name, required]) => {
      const license = licenses.find((one) => one.name === name) ?? { account_id: account, name, total: 0 };
      return { required, ...formatLicense(license, holders) };
    }),
    workflows:
      run.api_access === null
        ? null
        : new Map(
            workflows
              .filter(({ workflow_depth }) => workflow_depth === run.workflow_depth)
              .map(({ worker_id, count }) => [worker_id ?? '', count]),
          ),
  });
}

/**
 * Explains the queued runs of an account, by id. Reads the first runs of each class once and finds each run among them. Runs
 * with the same demand share what follows from the workers.
 */
export async function explainWaitingRuns(
  db: Reader,
  runs: readonly QueuedRun[],
  now: number,
  canProvision: CanProvision,
): Promise<ReadonlyMap<RunId, Waiting>> {
  const [first] = runs;
  if (!first) return new Map();
  const account = first.account_id;
  const workers = await listActiveWorkers(db, now);
  const busy = await countBusySlots(db);
  const groups = [...Map.groupBy(runs, formatDemandKey).values()].map((group) => ({
    group,
    ...findServing(workers, group[0] ?? first, canProvision),
  }));
  const isFull = groups.some(({ serving }) => countFreeSlots(serving, busy).slots === 0);
  const holders = isFull ? await listSlotHolders(db) : [];
  const quotas = new Map<string, QuotaUse | null>();
  for (const applicationUid of new Set(runs.map((run) => run.application_uid)))
    quotas.set(applicationUid, await findRunQuota(db, { account, applicationUid }));
  const readRequirements = await loadRequirements(db, account, runs);
  const use = await readSlotUse(db, now);
  const places = new Map<string, (run: QueuedRun) => number>();
  for (const { serving } of groups) {
    const { classes } = serving;
    const key = classes.join();
    if (!places.has(key)) places.set(key, await countRunsBefore(db, { runs, classes, workers }, now));
  }
  const reasons = groups.flatMap(({ group, ...shared }) => {
    const findBefore = places.get(shared.serving.classes.join());
    return group.map((run) => {
      const waiting = describeWaiting(run, {
        ...{ ...shared, busy, holders, account, now },
        before: findBefore?.(run) ?? QUEUE_POSITION_MAX,
        slotUse: formatUse(use, run),
        quota: quotas.get(run.application_uid) ?? null,
        ...readRequirements(run),
      });
      return [run.id, waiting] as const;
    });
  });
  return addPredictedStarts(db, { runs, reasons: new Map(reasons) }, now);
}

function formatDemandKey({ execution_class, application_uid, required_labels }: QueuedRun): string {
  return `${execution_class} ${application_uid} ${required_labels}`;
}

/** Reasons of runs that wait for others to end. */
const PREDICTABLE_REASONS = new Set<Waiting['reason']>([
  ...(['slots_taken', 'resources_taken', 'runs_before', 'licenses_taken'] as const),
]);

/** Returns the reasons with the predicted starts of the runs that wait for others to end, or why there is none. */
async function addPredictedStarts(
  db: Reader,
  { runs, reasons }: { runs: readonly QueuedRun[]; reasons: ReadonlyMap<RunId, Waiting> },
  now: number,
): Promise<ReadonlyMap<RunId, Waiting>> {
  const predictable = [...reasons].filter(([, { reason }]) => PREDICTABLE_REASONS.has(reason));
  const near = new Set(predictable.flatMap(([id, { place }]) => (place <= PREDICTED_STARTS_MAX ? [id] : [])));
  const starts = await findPredictedStarts(
    db,
    runs.filter(({ id }) => near.has(id)),
    now,
  );
  const predicted = new Map(reasons);
  for (const [id, waiting] of predictable) {
    const start = waiting.place > PREDICTED_STARTS_MAX ? 'position' : (starts.get(id) ?? 'unservable');
    if (typeof start === 'object') {
      const { earliest, latest } = start;
      predicted.set(id, {
        ...waiting,
        predicted_start: { earliest: formatRfc3339(earliest), latest: formatRfc3339(latest) },
      });
    } else if (start !== 'unservable') {
      predicted.set(id, { ...waiting, predicted_start_absence: start });
    }
  }
  return predicted;
}

function formatUse(use: SlotUse, { account_id, application_uid }: QueuedRun): Situation['slotUse'] {
  return {
    account: roundSlots(use.findAccount(account_id)),
    application: roundSlots(use.findApplication(application_uid)),
  };
}

/** Rounds to a hundredth, which is enough to read. */
const roundSlots = (slots: number): number => Math.round(slots * 100) / 100;
