/** The offer of a worker: which runs it can execute, and how many of them fit beside each other. */
import {
  CLASS_LIMITS,
  EXECUTION_CLASS_DEFAULT,
  type ExecutionClass,
} from '@switchyard/contract/execution-classes.ts';
import { nullable } from '@switchyard/contract/schemas/field-schemas.ts';
import { type AccountId, idSchema } from '@switchyard/contract/schemas/ids.ts';
import Type, { type Static } from 'typebox';
import { parseColumn } from '../../platform/database/parse-column.ts';

/** The runs that the workers of a token may execute. */
interface WorkerScope extends Static<typeof StoredScope> {
  /** Subscribed applications of the account whose publisher does not give their program to the token. It is stored nowhere. */
  hiddenUids?: readonly string[];
}

const StoredScope = Type.Object({
  account: idSchema<AccountId>('The account.'),
  applicationUids: nullable(Type.Unsafe<readonly string[]>(Type.Array(Type.String()))),
});

/** The offer of a worker to runs, besides its slots. */
export interface WorkerOffer {
  /** A run that requires labels is claimed only by a worker that has all of them. */
  labels: readonly string[];
  /**
   * Null counts slots alone: the limits of a class shrink to the machine, which is the default on one machine. With
   * resources, a run is claimed only if the cores and memory of its class fit beside the runs of the worker.
   */
  resources: { cores: number; memoryBytes: number } | null;
  /** Null for the runs of all accounts; else only those of the account, or of these applications of it. */
  scope: WorkerScope | null;
}

/** The offer of a worker of one machine: every run, as many as there are slots. */
export const SLOTS_ONLY: WorkerOffer = { labels: [], resources: null, scope: null };

/** The columns of `workers` that store an offer. */
interface OfferColumns {
  labels: string | null;
  cores: number | null;
  memory_bytes: number | null;
  scope: string | null;
}

export function formatOffer({ labels, resources, scope }: WorkerOffer): OfferColumns {
  return {
    labels: labels.length === 0 ? null : JSON.stringify(labels),
    cores: resources?.cores ?? null,
    memory_bytes: resources?.memoryBytes ?? null,
    scope: scope && JSON.stringify(scope),
  };
}

const parseLabels = parseColumn('workers', 'id', 'labels', Type.Array(Type.String()));
const parseScope = parseColumn('workers', 'id', 'scope', StoredScope);

export function parseOffer(worker: OfferColumns & { id: string }): WorkerOffer {
  const { cores, memory_bytes } = worker;
  return {
    labels: parseLabels(worker) ?? [],
    resources: cores === null || memory_bytes === null ? null : { cores, memoryBytes: memory_bytes },
    scope: parseScope(worker),
  };
}

/** The demand of a run on a worker. */
export interface Demand {
  executionClass: ExecutionClass;
  labels: readonly string[];
  account: AccountId;
  applicationUid: string;
}

/** Returns true if the scope of the offer has the application of the run. */
export function isInScope(
  { scope }: WorkerOffer,
  { account, applicationUid }: Omit<Demand, 'labels'>,
): boolean {
  return (
    scope === null ||
    (scope.account === account &&
      !scope.hiddenUids?.includes(applicationUid) &&
      (scope.applicationUids === null || scope.applicationUids.includes(applicationUid)))
  );
}

/** Returns the labels that the run requires and the worker has not. */
export function listMissingLabels(offer: WorkerOffer, { labels }: Pick<Demand, 'labels'>): string[] {
  return labels.filter((label) => !offer.labels.includes(label));
}

/** Cores and memory of a worker, or those that a run of it reserves. */
type Resources = NonNullable<WorkerOffer['resources']>;

/**
 * Returns the cores and memory that a run of the class reserves on a worker with the resources: those of the class. A run of the
 * default class, for which nobody asked, reserves at most the whole worker, whose limits it then has.
 */
function computeReservation(resources: Resources, name: ExecutionClass): Resources {
  const { cores, memory_bytes: memoryBytes } = CLASS_LIMITS[name];
  if (name !== EXECUTION_CLASS_DEFAULT) return { cores, memoryBytes };
  return {
    cores: Math.min(cores, resources.cores),
    memoryBytes: Math.min(memoryBytes, resources.memoryBytes),
  };
}

/** Returns true if the idle worker has the cores and the memory that a run of the class reserves. */
export function isLargeEnough({ resources }: WorkerOffer, name: ExecutionClass): boolean {
  if (resources === null) return true;
  const { cores, memoryBytes } = computeReservation(resources, name);
  return resources.cores >= cores && resources.memoryBytes >= memoryBytes;
}

/** Returns true if the worker could execute the run as its only run. */
export function canEverServe(offer: WorkerOffer, demand: Demand): boolean {
  return (
    isInScope(offer, demand) &&
    listMissingLabels(offer, demand).length === 0 &&
    isLargeEnough(offer, demand.executionClass)
  );
}

/**
 * Returns how many more runs of the class fit beside runs of the given classes: infinite without resources, negative when
 * the runs use more than the worker has.
 */
export function countFitting(
  { resources }: WorkerOffer,
  running: Iterable<ExecutionClass>,
  name: ExecutionClass,
): number {
  if (resources === null) return Number.POSITIVE_INFINITY;
  const free = subtractReservations(resources, running);
  const one = computeReservation(resources, name);
  return Math.floor(Math.min(free.cores / one.cores, free.memoryBytes / one.memoryBytes));
}

/** Returns the resources without those that runs of the classes reserve; negative when that is more than the worker has. */
function subtractReservations(resources: Resources, running: Iterable<ExecutionClass>): Resources {
  let { cores, memoryBytes } = resources;
  for (const name of running) {
    const reserved = computeReservation(resources, name);
    cores -= reserved.cores;
    memoryBytes -= reserved.memoryBytes;
  }
  return { cores, memoryBytes };
}
