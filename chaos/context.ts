/** A fault, and what it can reach. */
import type { RandomGenerator } from '../server/experiments/statistics/random-generator.ts';
import type { Cluster } from './cluster.ts';

export interface ChaosContext {
  cluster: Cluster;
  /** Runs whose app was killed. */
  killedRuns: Set<string>;
  /** When the disk was full, by `performance.now()`. */
  diskFullPeriods: { from: number; to: number }[];
  /** How often an app used up all memory, and which promises that broke. */
  memoryExhaustions: { count: number; violations: string[] };
  /** Faults that continue in the background. */
  background: Set<Promise<void>>;
}

export interface Fault {
  /** What was done, as a sentence without its subject's article: "the server was killed". */
  name: string;
  /** How many there are of it in a round. */
  weight: number;
  /** false when nothing could be injected. */
  inject(context: ChaosContext, draw: RandomGenerator): Promise<boolean>;
}
