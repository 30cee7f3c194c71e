/**
 * A mixed-integer model and its solution by HiGHS.
 *
 * The solver blocks its thread, so it runs in a worker thread (mip-worker.ts) while this thread can receive SIGTERM.
 * Invariant: the promise of solveMip settles even if the solver stops responding. A shared flag, which the solver reads
 * at its checkpoints, requests the stop. After a grace period the worker is terminated, and the best reported solution
 * is the result.
 */
import { Worker } from 'node:worker_threads';

/** A constraint row: lower ≤ Σ coefficient · column ≤ upper. */
export type Term = readonly [column: number, coefficient: number];

/** Arrays in compressed-row form, which can be posted to the worker unchanged. */
export interface MipModel {
  cost: number[];
  lower: number[];
  upper: number[];
  /** 1 where the column must be a whole number, else 0. */
  integer: (0 | 1)[];
  rowLower: number[];
  rowUpper: number[];
  starts: number[];
  indices: number[];
  values: number[];
  /** Added to the objective. */
  offset: number;
}

/** One improvement. Seconds count from the start of this solve. */
interface MipProgress {
  seconds: number;
  value: number;
  bound: number;
  columns: Float64Array;
}

export interface MipResult {
  /** `feasible` means a solution without proof of optimality; `unknown` means neither a solution nor a proof. */
  status: 'optimal' | 'feasible' | 'infeasible' | 'unknown';
  columns: Float64Array | null;
  value: number;
  /** Best proven lower bound; -Infinity when there is none. */
  bound: number;
  nodes: number;
}

export interface MipLimits {
  seconds: number;
  /** Relative gap at which the solver may call a solution optimal. */
  gap: number;
  /** Values for every column of a feasible solution to start from. */
  start?: Float64Array;
  signal?: AbortSignal;
  onImprovement?: (progress: MipProgress) => void;
}

/** Collects columns and rows of a minimisation. */
export class MipBuilder {
  private readonly model: MipModel = {
    cost: [],
    lower: [],
    upper: [],
    integer: [],
    rowLower: [],
    rowUpper: [],
    starts: [0],
    indices: [],
    values: [],
    offset: 0,
  };

  /** Adds a column and returns its index. */
  addColumn(cost: number, lower: number, upper: number, integer = true): number {
    this.model.cost.push(cost);
    this.model.lower.push(lower);
    this.model.upper.push(upper);
    this.model.integer.push(integer ? 1 : 0);
    return this.model.cost.length - 1;
  }

  /** Adds a 0/1 column and returns its index. */
  addBinaryColumn(cost: number): number {
    return this.addColumn(cost, 0, 1);
  }

  /** Adds lower ≤ Σ terms ≤ upper. Terms that name one column twice are summed. */
  addRow(lower: number, upper: number, terms: readonly Term[]): void {
    const byColumn = new Map<number, number>();
    for (const [column, coefficient] of terms) {
      byColumn.set(column, (byColumn.get(column) ?? 0) + coefficient);
    }
    for (const [column, coefficient] of byColumn) {
      this.model.indices.push(column);
      this.model.values.push(coefficient);
    }
    this.model.starts.push(this.model.indices.length);
    this.model.rowLower.push(lower);
    this.model.rowUpper.push(upper);
  }

  build(): MipModel {
    return this.model;
  }
}

/** Input of the worker. `stop[0]` becomes 1 when the solver has to end. */
export interface MipJob {
  model: MipModel;
  seconds: number;
  gap: number;
  start: Float64Array | null;
  stop: Int32Array;
}

export type MipMessage =
  | { kind: 'improvement'; progress: MipProgress }
  | { kind: 'bound'; bound: number }
  | { kind: 'done'; result: MipResult };

/** The solver checks its clock only between its own steps; it may overrun its limit by this time. */
const graceMilliseconds = 1500;

/** Minimises the model. Rejects only when the solver itself fails. */
export function solveMip(model: MipModel, limits: MipLimits): Promise<MipResult> {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const job: MipJob = { model, seconds: limits.seconds, gap: limits.gap, start: limits.start ?? null, stop };
  const best: MipResult = { status: 'unknown', columns: null, value: Infinity, bound: -Infinity, nodes: 0 };

  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./mip-worker.ts', import.meta.url), { workerData: job });
    const finish = (result: MipResult) => {
      clearTimeout(overrun);
      limits.signal?.removeEventListener('abort', requestStop);
      worker.terminate().then(() => resolve(result), reject);
    };
    const finishWithBest = () => finish(best);
    let overrun = setTimeout(finishWithBest, limits.seconds * 1000 + graceMilliseconds);
    const requestStop = () => {
      Atomics.store(stop, 0, 1);
      clearTimeout(overrun);
      overrun = setTimeout(finishWithBest, graceMilliseconds);
    };
    if (limits.signal?.aborted) requestStop();
    else limits.signal?.addEventListener('abort', requestStop);

    worker.on('error', reject);
    worker.on('message', (message: MipMessage) => {
      if (message.kind === 'done') {
        finish(message.result);
      } else if (message.kind === 'bound') {
        best.bound = message.bound;
      } else {
        best.status = 'feasible';
        best.columns = message.progress.columns;
        best.value = message.progress.value;
        best.bound = message.progress.bound;
        limits.onImprovement?.(message.progress);
      }
    });
  });
}
