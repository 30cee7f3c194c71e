/**
 * Describes why a queued run has not started, by its requirements and by the capacity and load of the active workers. The
 * server rejects a run that must not be queued by the same numbers. Pure.
 */
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { QUEUE_POSITION_MAX, SLOT_HOLDERS_MAX } from '@switchyard/contract/limits.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { RunsTable } from '../store/schema.ts';
import { type BusySlotCount, type ClassCapacity, countFreeSlots } from '../workers/slots.ts';
import {
  findBusyLicenses,
  findMissingLicenses,
  findWorkflowBound,
  formatResources,
  type Obstacle,
  type RequiredLicense,
  type WorkflowCounts,
} from './obstacles.ts';
import type { QueuePosition } from './order/queue-position.ts';
import type { SlotHolder } from './queue-order.ts';
import type { QuotaUse } from './run-quota.ts';

export type QueuedRun = QueuePosition &
  Pick<
    RunsTable,
    | 'execution_class'
    | 'attempt'
    | 'host_fault'
    | 'retry_at'
    | 'account_id'
    | 'application_uid'
    | 'required_labels'
    | 'required_licenses'
    | 'api_access'
    | 'workflow_depth'
  >;

export interface Situation {
  /** The slots of the workers that could execute the run; of all workers when none could. */
  serving: ClassCapacity;
  /** Why no worker could execute it; null when one could, and without any worker. */
  obstacle: Obstacle | null;
  canProvision: boolean;
  busy: readonly BusySlotCount[];
  /** The number of queued runs before the run, at most QUEUE_POSITION_MAX. */
  before: number;
  /** The slots that the account and the application of the run use. */
  slotUse: { account: number; application: number };
  /** Runs in slots, of any account. */
  holders: readonly SlotHolder[];
  /** The quota of runs at once that limits the run, and its use; null without a quota. */
  quota: QuotaUse | null;
  /** The licences that the run requires. */
  licenses: readonly RequiredLicense[];
  /** The workflows of the level of the run by worker; null for a run that is no workflow. */
  workflows: WorkflowCounts | null;
  /** The account of the caller; only its runs may be named. */
  account: AccountId;
  now: number;
}

/** After this time without a free slot the message explains the cause. */
const STALLED_MS = 60_000;

/** Returns the queue position, the reason as a code, a message for people, and the facts behind them. */
export function describeWaiting(run: QueuedRun, situation: Situation): Waiting {
  const { serving, licenses, workflows, before } = situation;
  const found =
    describeHostFault(run, situation) ??
    describeWorkers(run, situation) ??
    findMissingLicenses(licenses) ??
    describeQuota(situation) ??
    findBusyLicenses(licenses) ??
    (workflows && findWorkflowBound(serving, run.workflow_depth + 1, workflows)) ??
    describeSlots(run, situation);
  const attempts =
    run.attempt > 0
      ? ` It was started ${formatTimes(run.attempt)}, cut short and queued again at its old place.`
      : '';
  return { place: before + 1, ...found, message: `${found.message}${attempts}` };
}

function describeHostFault({ host_fault, retry_at }: QueuedRun, { now }: Situation): Obstacle | null {
  if (host_fault === null || retry_at === null || retry_at <= now) return null;
  const retryAt = formatRfc3339(retry_at);
  return {
    reason: 'host_fault',
    message: `The host could not execute it: ${addFullStop(host_fault)} It is retried at ${retryAt}.`,
    fault: { message: host_fault, retry_at: retryAt },
  };
}

function describeWorkers({ execution_class }: QueuedRun, situation: Situation): Obstacle | null {
  const { obstacle, canProvision, serving } = situation;
  if (obstacle) return obstacle;
  const { workers, slots, drainingWorkers } = serving;
  const facts = {
    reason: 'no_worker' as const,
    workers: { active: workers, draining: drainingWorkers },
    can_be_provisioned: canProvision,
  };
  const until = canProvision ? 'the server can start one' : 'the run waits until one starts';
  if (workers === 0) return { ...facts, message: `No worker is active; ${until}.` };
  if (slots > 0) return null;
  const draining =
    drainingWorkers === 0
      ? ''
      : ` (${drainingWorkers} of ${workers} ${drainingWorkers === 1 ? 'drains' : 'drain'})`;
  return {
    ...facts,
    message: `No active worker has a slot for execution class ${execution_class}${draining}; ${canProvision ? until : 'the run waits until one has'}.`,
  };
}

function describeQuota({ quota }: Situation): Obstacle | null {
  if (quota === null || quota.running < quota.limit) return null;
  return {
    reason: 'quota',
    message: `The ${quota.owner} executes ${quota.running} of at most ${quota.limit} runs at once, which is its quota; the run waits until one ends.`,
    quota,
  };
}

/** Explains the wait of a run that would start if it was the first and had a slot. */
function describeSlots({ execution_class: name }: QueuedRun, situation: Situation): Obstacle {
  const { serving, busy, before, slotUse } = situation;
  const total = serving.slots;
  const { slots: free, fitting } = countFreeSlots(serving, busy);
  const facts = { slots: { total, free }, ...(before === 0 ? {} : { slot_use: slotUse }) };
  const ahead = describeRunsBefore(before);
  const turns = before === 0 ? '' : describeTurns(slotUse);
  if (free === 0) {
    const occupied =
      total === 1
        ? `The only slot that serves execution class ${name} is taken`
        : `All ${total} slots that serve execution class ${name} are taken`;
    const occupation = computeSlotOccupation(situation);
    return {
      reason: 'slots_taken',
      message: `${occupied}; ${before === 0 ? 'this run is next' : ahead}.${turns}${describeStalledQueue(occupation, situation)}`,
      ...facts,
      ...(occupation === null ? {} : formatSlotHolders(occupation)),
    };
  }
  const freeSlots = `${free} of ${total} slots that serve execution class ${name} ${free === 1 ? 'is' : 'are'} free`;
  if (fitting === 0) {
    const { cores, memory_bytes } = CLASS_LIMITS[name];
    return {
      reason: 'resources_taken',
      message: `${freeSlots}, but no worker has ${formatResources(cores, memory_bytes)} free; ${before === 0 ? 'this run is next' : ahead}.${turns}`,
      ...facts,
      required_resources: { cores, memory_bytes },
    };
  }
  // A worker with resources reserves some of them for an older run that does not fit yet.
  const isReserved = before > 0 && serving.pools.some(({ offer }) => offer.resources !== null);
  if (before >= fitting || isReserved)
    return { reason: 'runs_before', message: `${freeSlots}, and ${ahead}.${turns}`, ...facts };
  return {
    reason: 'about_to_start',
    message: `${freeSlots}; this run is about to start.`,
    slots: facts.slots,
  };
}

function describeRunsBefore(before: number): string {
  if (before >= QUEUE_POSITION_MAX) return `${QUEUE_POSITION_MAX} runs or more stand before it`;
  return before === 1 ? 'one run stands before it' : `${before} runs stand before it`;
}

/** Says which runs of the same priority are before a run that has used slots. */
function describeTurns({ account, application }: Situation['slotUse']): string {
  if (account === 0) return '';
  return ` Runs of one priority take turns, and those of accounts and applications that use fewer slots go first: this account uses ${account}, this application ${application}.`;
}

/** The runs that occupy the slots, and the time since which no slot is free. */
interface SlotOccupation {
  since: number;
  /** The runs of the account, oldest first. */
  own: readonly SlotHolder[];
  /** The number of runs of other accounts. */
  others: number;
}

/** Returns null when a run ended or started while the slots were counted. */
function computeSlotOccupation({ serving, holders, account }: Situation): SlotOccupation | null {
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

function formatSlotHolders({
  since,
  own,
}: SlotOccupation): Pick<Waiting, 'slots_taken_since' | 'slot_holders'> {
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
function describeStalledQueue(occupation: SlotOccupation | null, { now }: Situation): string {
  if (occupation === null || now - occupation.since < STALLED_MS) return '';
  const { since, own, others } = occupation;
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

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
