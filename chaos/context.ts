/** A fault, and the objects that it can reach. */
import type { RandomGenerator } from '../server/random-generator.ts';
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
