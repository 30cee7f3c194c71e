/** The graph of a workflow, which the app of its run sends. */
import { Flow, type FlowUpdate } from '@switchyard/contract/runs/flow.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { getOwnRun } from './own-run.ts';

const parseGraph = parseColumn('run_flows', 'run_id', 'graph', Flow.properties.pipeline_graph);

export const updateRunFlow: OperationHandler<'updateRunFlow'> = async (
  context,
  { caller, params, body, commit },
) => {
  const run = await getOwnRun(context, caller, params);
  const updatedAt = context.clock.now();
  const graph = keepKnownFields(body);
  const committed = await commit(async (tx) => {
    if (!(await writeFlow(tx, { runId: run.id, fence: caller.run?.fence, graph, updatedAt })))
      throw notFound(`The run ${quoteValue(run.id)} was deleted or started again meanwhile.`);
    return { status: 200, body: { pipeline_graph: graph, updated_at: formatRfc3339(updatedAt) } };
  });
  context.database.notify('flows-changed');
  return committed;
};

export const getRunFlow: OperationHandler<'getRunFlow'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  const flow = await findFlow(context.database.read, run.id);
  if (!flow)
    throw notFound(
      `The run ${quoteValue(run.id)} has sent no graph of a workflow; only the app of a workflow sends one.`,
    );
  return {
    status: 200,
    body: { pipeline_graph: flow.graph, updated_at: formatRfc3339(flow.updatedAt) },
  };
};

/** The graph without fields that the contract does not have, and without null for absent ones. */
function keepKnownFields({ pipeline_graph: { steps, nodes } }: FlowUpdate): Flow['pipeline_graph'] {
  return {
    steps: steps.map(({ id, predecessors, docs, app_id }) => ({
      ...{ id, predecessors },
      ...(docs ? { docs } : {}),
      ...(app_id ? { app_id } : {}),
    })),
    nodes: nodes.map(({ id, parent_id, predecessor_ids, status, run_id }) => ({
      ...{ id, parent_id, predecessor_ids, status },
      ...(run_id ? { run_id } : {}),
    })),
  };
}

interface StoredFlow {
  graph: Flow['pipeline_graph'];
  /** In milliseconds. */
  updatedAt: number;
}

/** Returns the last graph of the run; null when it has none. */
async function findFlow(db: Reader, run: RunId): Promise<StoredFlow | null> {
  const row = await db.selectFrom('run_flows').selectAll().where('run_id', '=', run).executeTakeFirst();
  if (!row) return null;
  return { graph: parseGraph(row), updatedAt: row.updated_at };
}

/**
 * Replaces the graph of the run; returns false when the run is gone, or when `fence` is not that of its present attempt.
 * Blocks the deletion of the run until the transaction ends.
 */
async function writeFlow(
  tx: Writer,
  { runId, fence, graph, updatedAt }: StoredFlow & { runId: RunId; fence: number | undefined },
): Promise<boolean> {
  let query = tx.selectFrom('runs').select('id').where('id', '=', runId);
  if (fence !== undefined) query = query.where('fence', '=', fence);
  if (!(await locked(tx, query, 'key share').executeTakeFirst())) return false;
  const values = { graph: JSON.stringify(graph), updated_at: updatedAt };
  await tx
    .insertInto('run_flows')
    .values({ run_id: runId, ...values })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet(values))
    .execute();
  return true;
}
