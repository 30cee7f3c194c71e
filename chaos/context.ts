/** A fault, the objects that it can reach, and what several faults do with them. */
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { RandomGenerator } from '../server/platform/random-generator.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import type { RunLoad } from '../server/testing/load/run-load.ts';
import type { ApplicationLoad } from './application-load.ts';
import type { Cluster } from './cluster.ts';
import type { ExperimentLoad } from './experiment-load.ts';
import type { WebhookLoad } from './webhook-load.ts';

/** The clients of the chaos test, by the resources that they create. */
export interface Loads {
  runs: RunLoad;
  experiments: ExperimentLoad;
  webhooks: WebhookLoad;
  applications: ApplicationLoad;
}

/** The cluster under test, and what faults have recorded. */
export interface ChaosContext {
  cluster: Cluster;
  /** Runs whose app was killed. */
  killedRuns: Set<string>;
  /** Periods with a full disk, by `performance.now()`. */
  diskFullPeriods: { from: number; to: number }[];
  /** Number of apps that used up all memory, and the violations that followed. */
  memoryExhaustions: { count: number; violations: string[] };
  /** Faults that continue in the background. */
  background: Set<Promise<void>>;
}

/** A kind of fault. */
export interface Fault {
  /** Describes the injected fault as a sentence: "the server was killed". */
  name: string;
  /** Frequency of the fault in a round. */
  weight: number;
  /** Injects the fault. Resolves to false if there was nothing to inject it into. */
  inject(context: ChaosContext, draw: RandomGenerator): Promise<boolean>;
}

/** A worker is declared dead ten seconds after the end of its lease, if it has sent no heartbeat. */
export const BEYOND_LEASE_MS = LEASE_DURATION_MS + 25_000;

/** Draws one of the items; undefined when there is none. */
export function pick<T>(draw: RandomGenerator, items: readonly T[]): T | undefined {
  return items[draw.integerBelow(items.length)];
}

/** Returns false if the process does not exist. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Suspends the process of a worker, and resumes it in the background once its lease has expired. */
export function suspendBeyondLease(
  worker: { isFrozen: boolean },
  pid: number,
  { background }: Pick<ChaosContext, 'background'>,
): void {
  worker.isFrozen = true;
  sendSignal(pid, 'SIGSTOP');
  const thaw = sleep(BEYOND_LEASE_MS).then(() => {
    sendSignal(pid, 'SIGCONT');
    worker.isFrozen = false;
    background.delete(thaw);
  });
  background.add(thaw);
}
