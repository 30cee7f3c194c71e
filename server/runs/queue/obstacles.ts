/**
 * Finds obstacles to the start of a queued run that do not depend on its position in the queue. Either no worker could execute
 * it, or licence tokens are missing, or workers execute as many workflows as they may. Pure.
 */
import { CLASS_LIMITS, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { WORKFLOWS_PER_WORKER_MAX } from '@switchyard/contract/limits.ts';
import { formatNameList } from '@switchyard/contract/name-list.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { type Demand, isInScope, isLargeEnough, listMissingLabels } from '../workers/offers.ts';
import type { ClassCapacity } from '../workers/slots.ts';
import type { ActiveWorker } from '../workers/workers.ts';

/** A reason with its message and the facts behind it. */
export type Obstacle = Omit<Waiting, 'place' | 'predicted_start' | 'predicted_start_absence'>;

/** A licence that the run requires, and its use. */
export type RequiredLicense = NonNullable<Waiting['licenses']>[number];

/** Returns the active workers that could execute the run as their only run; with none, also the reason. */
export function findSuitable<W extends Pick<ActiveWorker, 'offer'>>(
  workers: readonly W[],
  demand: Demand,
  canProvision: boolean,
): { suitable: readonly W[]; obstacle: Obstacle | null } {
  const inScope = workers.filter(({ offer }) => isInScope(offer, demand));
  const labelled = inScope.filter(({ offer }) => listMissingLabels(offer, demand).length === 0);
  const suitable = labelled.filter(({ offer }) => isLargeEnough(offer, demand.executionClass));
  if (suitable.length > 0 || workers.length === 0) return { suitable, obstacle: null };
  const until = canProvision ? 'the server can start one' : 'the run waits until somebody starts one';
  const reason =
    inScope.length === 0
      ? describeScope(workers.length, until)
      : labelled.length === 0
        ? describeLabels(demand.labels, until)
        : describeSize(labelled, demand.executionClass, until);
  return { suitable, obstacle: { ...reason, can_be_provisioned: canProvision } };
}

function describeScope(active: number, until: string): Obstacle {
  return {
    reason: 'no_worker',
    message: `No active worker may execute runs of this application; ${until}.`,
    workers: { active, draining: 0 },
  };
}

function describeLabels(labels: readonly string[], until: string): Obstacle {
  return {
    reason: 'labels_missing',
    message: `The run requires ${formatLabels(labels)}, and no active worker has ${labels.length === 1 ? 'it' : 'all of them'}; ${until} that has.`,
    required_labels: [...labels],
  };
}

function describeSize(
  workers: readonly Pick<ActiveWorker, 'offer'>[],
  name: ExecutionClass,
  until: string,
): Obstacle {
  const { cores, memory_bytes } = CLASS_LIMITS[name];
  const sizes = workers.flatMap(({ offer: { resources } }) => (resources === null ? [] : [resources]));
  const largest = sizes.reduce((best, one) =>
    one.cores > best.cores || (one.cores === best.cores && one.memoryBytes > best.memoryBytes) ? one : best,
  );
  return {
    reason: 'class_too_large',
    message: `Execution class ${name} needs ${formatResources(cores, memory_bytes)}; the largest active worker that it could use has ${formatResources(largest.cores, largest.memoryBytes)}; ${until} that is large enough.`,
    required_resources: { cores, memory_bytes },
    largest_worker: { cores: largest.cores, memory_bytes: largest.memoryBytes },
  };
}

/** Returns the reason if the account has fewer tokens than the run requires, whatever runs use them. */
export function findMissingLicenses(licenses: readonly RequiredLicense[]): Obstacle | null {
  const missing = licenses.filter(({ required, total }) => total < required);
  const [first] = missing;
  if (!first) return null;
  const { name, required, total } = first;
  return {
    reason: 'licenses_missing',
    message: `The run requires ${formatTokens(required)} of the licence ${name}, and the account has ${total === 0 ? 'none' : total}; the run waits until an administrator raises the number.`,
    licenses: missing,
  };
}

/** Returns the reason if too few tokens are free, with the runs that occupy them. */
export function findBusyLicenses(licenses: readonly RequiredLicense[]): Obstacle | null {
  const busy = licenses.filter(({ required, total, used }) => total - used < required);
  const [first] = busy;
  if (!first) return null;
  const { name, required, total, used, holders } = first;
  const names = holders.map(({ run_id }) => run_id);
  const isComplete = holders.reduce((sum, { tokens }) => sum + tokens, 0) === used;
  const by = names.length === 0 ? '' : ` by ${formatNameList(names)}${isComplete ? '' : ' and others'}`;
  return {
    reason: 'licenses_taken',
    message: `The run requires ${formatTokens(required)} of the licence ${name}, of which ${used} of ${total} are in use${by}; the run waits until enough of them are free.`,
    licenses: busy,
  };
}

/** The workflows of the level of the run that each worker executes, by the id of the worker. */
export type WorkflowCounts = ReadonlyMap<string, number>;

/** Returns the reason if every worker with a slot for the workflow executes as many of its level as it may. */
export function findWorkflowBound(
  { pools }: Pick<ClassCapacity, 'pools'>,
  level: number,
  counts: WorkflowCounts,
): Obstacle | null {
  const isFull = pools.every(({ workerId }) => (counts.get(workerId) ?? 0) >= WORKFLOWS_PER_WORKER_MAX);
  if (!isFull) return null;
  return {
    reason: 'workflows_running',
    message: `The run is a workflow on level ${level}, and every worker that could execute it executes ${WORKFLOWS_PER_WORKER_MAX} of them, which is the bound; the run waits until one of them ends.`,
    workflows: { level, limit: WORKFLOWS_PER_WORKER_MAX },
  };
}

function formatLabels(labels: readonly string[]): string {
  return `${labels.length === 1 ? 'the label' : 'the labels'} ${formatNameList(labels)}`;
}

function formatTokens(count: number): string {
  return count === 1 ? '1 token' : `${count} tokens`;
}

/** Formats cores and memory, as in `6 cores and 9.5 GB of memory`. */
export function formatResources(cores: number, bytes: number): string {
  const gigabytes = Math.floor(bytes / 1e8) / 10;
  return `${cores} ${cores === 1 ? 'core' : 'cores'} and ${gigabytes} GB of memory`;
}
