/**
 * Explains why a queued run has not started. Derived from the capacity and the load of the active workers, the same numbers
 * by which the server rejects a run that must not be queued.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX, QUEUE_POSITION_MAX, SLOT_HOLDERS_MAX } from '@switchyard/contract/limits.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { Reader } from '../../database/database.ts';
import {
  type BusySlotCount,
  type ClassCapacity,
  computeClassCapacity,
  countFreeSlots,
} from '../../workers/slots.ts';
import { listActiveWorkers } from '../../workers/workers.ts';
import type { RunsTable } from '../store/schema.ts';
import { findPredictedStarts } from './prediction/predicted-starts.ts';
import {
  compareQueueOrder,
  countLoad,
  listNextQueued,
  listSlotHolders,
  type QueuePosition,
  type SlotHolder,
} from './queue-order.ts';
import { findRunQuota, type QuotaUse } from './run-quota.ts';

export type QueuedRun = QueuePosition &
  Pick<RunsTable, 'execution_class' | 'attempt' | 'host_fault' | 'retry_at'>;

type QueuedRunOfApplication = QueuedRun & Pick<RunsTable, 'application_uid'>;

interface Situation {
  serving: ClassCapacity;
  busy: readonly BusySlotCount[];
  /** The number of queued runs before the run, at most QUEUE_POSITION_MAX. */
  before: number;
  /** Runs in slots, of any account. */
  holders: readonly SlotHolder[];
  /** The quota of runs at once that limits the run, and its use; null without a quota. */
  quota: QuotaUse | null;
  /** The account of the caller; only its runs may be named. */
  account: AccountId;
  now: number;
}

/** After this time without a free slot the message explains the cause. */
const STALLED_MS = 60_000;

/** Returns the queue position, the reason as a code, and a message for people. */
export function describeWaiting(run: QueuedRun, situation: Situation): Waiting {
  const { serving, busy, before, now } = situation;
  const explain = (reason: Waiting['reason'], message: string): Waiting => ({
    place: before + 1,
    reason,
    message: `${message}${run.attempt > 0 ? ` It was started ${formatCount(run.attempt)}, cut short and queued again at its old place.` : ''}`,
  });
  if (run.host_fault !== null && run.retry_at !== null && run.retry_at > now)
    return explain(
      'host_fault',
      `The host could not execute it: ${addFullStop(run.host_fault)} It is retried at ${formatRfc3339(run.retry_at)}; the attempt does not count.`,
    );
  const { slots, drainingWorkers } = serving;
  const name = run.execution_class;
  if (serving.workers === 0)
    return explain('no_worker', 'No worker is active; the run waits until one starts.');
  if (slots === 0)
    return explain(
      'no_worker',
      `No active worker has a slot for execution class ${name}${drainingWorkers === 0 ? '' : ` (${drainingWorkers} of ${serving.workers} ${drainingWorkers === 1 ? 'drains' : 'drain'})`}; the run waits until one has.`,
    );
  if (situation.quota !== null && situation.quota.running >= situation.quota.limit)
    return explain(
      'quota',
      `The ${situation.quota.owner} executes ${situation.quota.running} of at most ${situation.quota.limit} runs at once, which is its quota; the run waits until one ends.`,
    );
  const free = countFreeSlots(serving, busy);
  const ahead =
    before >= QUEUE_POSITION_MAX
      ? `${QUEUE_POSITION_MAX} runs or more stand before it`
      : before === 1
        ? 'one run stands before it'
        : `${before} runs stand before it`;
  if (free === 0) {
    const occupied =
      slots === 1
        ? `The only slot that serves execution class ${name} is taken`
        : `All ${slots} slots that serve execution class ${name} are taken`;
    const slotUse = computeSlotUse(situation);
    return {
      ...explain(
        'slots_taken',
        `${occupied}; ${before === 0 ? 'this run is next' : ahead}.${describeStalledQueue(slotUse, situation)}`,
      ),
      ...(slotUse === null ? {} : formatSlotHolders(slotUse)),
    };
  }
  const freeSlots = `${free} of ${slots} slots that serve execution class ${name} ${free === 1 ? 'is' : 'are'} free`;
  if (before >= free) return explain('runs_before', `${freeSlots}, and ${ahead}.`);
  return explain('about_to_start', `${freeSlots}; this run is about to start.`);
}

/** The runs that occupy the slots, and the time since which no slot is free. */
interface SlotUse {
  since: number;
  /** The runs of the account, oldest first. */
  own: readonly SlotHolder[];
  /** The number of runs of other accounts. */
  others: number;
}

/** Returns null when a run ended or started while the slots were counted. */
function computeSlotUse({ serving, holders, account }: Situation): SlotUse | null {
  const inSlots = holders.filter((holder) =>
    serving.pools.some(
      ({ workerId, pool }) => workerId === holder.worker_id && pool.classes.includes(holder.execution_class),
    ),
  );
  if (inSlots.length < serving.slots) return null;
  const own = inSlots
    .filter((holder) => holder.account_id === account)
    .sort((capacity, other) => getStart(capacity) - getStart(other) || (capacity.id < other.id ? -1 : 1));
  return { since: Math.max(...inSlots.map(getStart)), own, others: inSlots.length - own.length };
}

const getStart = (holder: SlotHolder): number => holder.initiated_at ?? 0;

/** Returns true if the app can call the API: with the containment `limits` the network is always available. */
const reachesNetwork = (holder: SlotHolder): boolean =>
  holder.network === 1 || holder.containment === 'limits';

function formatSlotHolders({ since, own }: SlotUse): Pick<Waiting, 'slots_taken_since' | 'slot_holders'> {
  return {
    slots_taken_since: formatRfc3339(since),
    slot_holders: own.slice(0, SLOT_HOLDERS_MAX).map((holder) => ({
      run_id: holder.id,
      application_id: holder.application_id,
      started_at: formatRfc3339(getStart(holder)),
      network: reachesNetwork(holder),
    })),
  };
}

/**
 * Describes a queue that does not move. The server cannot see whether an app waits for runs that it created, which is a
 * deadlock when they need the same slots. So the message names the runs whose app could be waiting.
 */
function describeStalledQueue(slotUse: SlotUse | null, { now }: Situation): string {
  if (slotUse === null || now - slotUse.since < STALLED_MS) return '';
  const { since, own, others } = slotUse;
  const ofOthers =
    others === 0 ? [] : [others === 1 ? 'a run of another account' : `${others} runs of other accounts`];
  const by = joinNames([...own.map(({ id }) => id), ...ofOthers]);
  const able = own.filter(reachesNetwork).map(({ id }) => id);
  const hint =
    able.length === 0
      ? ''
      : ` ${joinNames(able)} can reach the network. An app that waits for runs that it created keeps its own slot meanwhile: if that is so here, give its instance api_access, add slots (SWITCHYARD_CAPACITY) or cancel the run.`;
  return ` No slot has become free since ${formatRfc3339(since)}; they are held by ${by}.${hint}`;
}

function joinNames(names: readonly string[]): string {
  const listed = names.slice(0, SLOT_HOLDERS_MAX);
  const omitted = names.length - listed.length;
  const last = omitted > 0 ? `${omitted} more` : listed.pop();
  return listed.length === 0 ? `${last}` : `${listed.join(', ')} and ${last}`;
}

function addFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function formatCount(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Explains one queued run. */
export async function explainWaitingRun(
  db: Reader,
  run: QueuedRunOfApplication & Pick<RunsTable, 'account_id'>,
  now: number,
): Promise<Waiting> {
  const serving = computeClassCapacity(await listActiveWorkers(db, now), run.execution_class);
  const load = await countLoad(db, { classes: serving.classes, before: run, bound: QUEUE_POSITION_MAX });
  const holders = countFreeSlots(serving, load.busy) === 0 ? await listSlotHolders(db) : [];
  const waiting = describeWaiting(run, {
    serving,
    busy: load.busy,
    before: load.queued,
    holders,
    quota: await findRunQuota(db, { account: run.account_id, applicationUid: run.application_uid }),
    account: run.account_id,
    now,
  });
  const [explained = waiting] = await addPredictedStarts(db, [{ id: run.id, waiting }], now);
  return explained;
}

/** Explains the queued runs of an account. Reads the first runs of each class once and finds each run among them. */
export async function explainWaitingRuns(
  db: Reader,
  account: AccountId,
  runs: readonly QueuedRunOfApplication[],
  now: number,
): Promise<Waiting[]> {
  if (runs.length === 0) return [];
  const workers = await listActiveWorkers(db, now);
  const serving = new Map(
    [...new Set(runs.map((run) => run.execution_class))].map((name) => [
      name,
      computeClassCapacity(workers, name),
    ]),
  );
  const classes = new Set([...serving.values()].flatMap((capacity) => capacity.classes));
  const { busy } = await countLoad(db, { classes: [], bound: 0 });
  const isFull = [...serving.values()].some((capacity) => countFreeSlots(capacity, busy) === 0);
  const holders = isFull ? await listSlotHolders(db) : [];
  const quotas = new Map<string, QuotaUse | null>();
  for (const applicationUid of new Set(runs.map((run) => run.application_uid)))
    quotas.set(applicationUid, await findRunQuota(db, { account, applicationUid }));
  const next = await listNextQueued(db, [...classes], QUEUE_POSITION_MAX);
  const queues = new Map<ExecutionClass, QueuePosition[]>();
  for (const [name, capacity] of serving) {
    queues.set(
      name,
      next.filter((run) => capacity.classes.includes(run.execution_class)),
    );
  }
  const reasons = runs.map((run) => {
    const before = countBefore(queues.get(run.execution_class) ?? [], run);
    const own = serving.get(run.execution_class) ?? computeClassCapacity(workers, run.execution_class);
    const quota = quotas.get(run.application_uid) ?? null;
    const situation = { serving: own, busy, before, holders, quota, account, now };
    return { id: run.id, waiting: describeWaiting(run, situation) };
  });
  return addPredictedStarts(db, reasons, now);
}

/** Returns the reasons with the predicted starts of the runs that wait only for a slot. */
async function addPredictedStarts(
  db: Reader,
  runs: readonly { id: RunId; waiting: Waiting }[],
  now: number,
): Promise<Waiting[]> {
  const predictable = runs.filter(
    ({ waiting: { reason, place } }) =>
      (reason === 'slots_taken' || reason === 'runs_before') && place <= PREDICTED_STARTS_MAX,
  );
  if (predictable.length === 0) return runs.map(({ waiting }) => waiting);
  const wanted = new Set(predictable.map(({ id }) => id));
  const starts = await findPredictedStarts(db, [...wanted], now);
  return runs.map(({ id, waiting }) => {
    const range = wanted.has(id) ? starts.get(id) : null;
    if (!range) return waiting;
    const { earliest, latest } = range;
    return {
      ...waiting,
      predicted_start: { earliest: formatRfc3339(earliest), latest: formatRfc3339(latest) },
    };
  });
}

/** Counts the runs before the run by binary search in a list in queue order; at most QUEUE_POSITION_MAX. */
function countBefore(queue: readonly QueuePosition[], run: QueuePosition): number {
  let low = 0;
  let high = Math.min(queue.length, QUEUE_POSITION_MAX);
  while (low < high) {
    const middle = (low + high) >> 1;
    const capacity = queue[middle];
    if (capacity && compareQueueOrder(capacity, run) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
