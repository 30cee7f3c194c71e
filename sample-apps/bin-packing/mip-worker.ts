/** Worker thread for HiGHS: solves one MipJob and posts improvements, bounds and the result. */
import { parentPort, workerData } from 'node:worker_threads';
import highsModule from 'highs';
import type { MipJob, MipMessage, MipResult } from './mip.ts';

const job: MipJob = workerData;
const { model } = job;

function post(message: MipMessage): void {
  parentPort?.postMessage(message);
}

/** HiGHS writes 1e30 or more for "no bound". */
function finiteOr(value: number | undefined, otherwise: number): number {
  return value === undefined || Math.abs(value) >= 1e30 ? otherwise : value;
}

// The package has one declaration for both module systems. The compiler reads it as CommonJS, where the loader would be a
// property, but the ES module that runs exports the loader itself.
const loadHighs = highsModule as unknown as typeof highsModule.default;
const highs = await loadHighs();
const { callbackType, modelStatus } = highs.constants;

const solver = highs.createModel({
  numCols: model.cost.length,
  numRows: model.rowLower.length,
  offset: model.offset,
  colCost: model.cost,
  colLower: model.lower,
  colUpper: model.upper,
  rowLower: model.rowLower,
  rowUpper: model.rowUpper,
  integrality: model.integer,
  matrix: {
    format: 'csr',
    numRows: model.rowLower.length,
    numCols: model.cost.length,
    starts: model.starts,
    indices: model.indices,
    values: model.values,
  },
});
solver.options.set({
  output_flag: false,
  time_limit: job.seconds,
  mip_rel_gap: job.gap,
  mip_abs_gap: 1e-6,
});
if (job.start?.length) solver.setSolution({ colValue: job.start });

let lastBound = -Infinity;
// Counted here, because the solver has no count when presolve alone solves the model.
let nodes = 0;
solver.run({
  [callbackType.mipImprovingSolution]({ data }) {
    if (!data.mip_solution) return;
    post({
      kind: 'improvement',
      progress: {
        seconds: data.running_time ?? 0,
        value: data.objective_function_value ?? Number.NaN,
        bound: finiteOr(data.mip_dual_bound, -Infinity),
        columns: data.mip_solution,
      },
    });
  },
  [callbackType.mipInterrupt](event) {
    nodes = Math.max(nodes, Number(event.data.mip_node_count ?? 0));
    const bound = finiteOr(event.data.mip_dual_bound, -Infinity);
    if (bound > lastBound) {
      lastBound = bound;
      post({ kind: 'bound', bound });
    }
    if (Atomics.load(job.stop, 0) === 1) event.interrupt();
  },
});

const status = solver.getModelStatus();
const hasSolution = solver.info.get('primal_solution_status') === 2;
const columns = hasSolution ? solver.getSolution().colValue : null;
const empty = status === modelStatus.empty;
const refuted = status === modelStatus.infeasible || status === modelStatus.unboundedOrInfeasible;
const value = hasSolution ? solver.getObjectiveValue() : Infinity;
const result: MipResult = {
  status:
    empty || status === modelStatus.optimal
      ? 'optimal'
      : refuted
        ? 'infeasible'
        : hasSolution
          ? 'feasible'
          : 'unknown',
  columns,
  value,
  bound: empty ? value : Math.max(lastBound, finiteOr(Number(solver.info.get('mip_dual_bound')), -Infinity)),
  nodes,
};
solver.dispose();
post({ kind: 'done', result });
