/** The messages between a simulation's parent process and the processes that simulate. */
import type { Plan } from '../load/plan.ts';
import type { Violation } from '../model/ledger.ts';

/** A change of the product for one process: the text in the file is replaced when it is loaded. */
export interface SourcePatch {
  /** A path in the repository. */
  file: string;
  old: string;
  new: string;
}

/** Asks for one simulation. */
export interface SimulationRequest {
  plan: Plan;
  keepsTrace: boolean;
}

type Counts = Record<string, number>;

/** The outcome of one simulation. */
export interface SimulationReport {
  violations: Violation[];
  /** The hash of everything that happened. */
  trace: string;
  lines: string[];
  events: number;
  simulatedMs: number;
  /** Milliseconds of processor time. */
  processorMs: number;
  transitions: Counts;
  faults: Counts;
  jobs: Counts;
  logs: Counts;
  answers: Counts;
}
