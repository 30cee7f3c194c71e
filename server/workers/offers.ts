/** The offer of a worker: which runs it can execute, and how many of them fit beside each other. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';

/** What a worker offers to runs besides its slots. */
export interface WorkerOffer {
  /** A run that requires labels is claimed only by a worker that has all of them. */
  labels: readonly string[];
  /**
   * Null counts slots alone: the limits of a class shrink to the machine, which is the default on one machine. With
   * resources, a run is claimed only if the cores and memory of its class fit beside the runs of the worker.
   */
  resources: { cores: number; memoryBytes: number } | null;
  /** Null for the runs of all accounts; else only those of the account, or of these applications of it. */
  scope: { account: AccountId; applicationUids: readonly string[] | null } | null;
}

/** The offer of a worker of one machine: every run, as many as there are slots. */
export const SLOTS_ONLY: WorkerOffer = { labels: [], resources: null, scope: null };

/** The columns of `workers` that store an offer. A worker of an earlier release writes none of them. */
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

export function parseOffer({ labels, cores, memory_bytes, scope }: OfferColumns): WorkerOffer {
  return {
    labels: labels === null ? [] : JSON.parse(labels),
    resources: cores === null || memory_bytes === null ? null : { cores, memoryBytes: memory_bytes },
    scope: scope === null ? null : JSON.parse(scope),
  };
}
