/** The graph of a workflow, which the app of its run sends. */
import type { Flow, FlowUpdate } from '@switchyard/contract/runs/flow.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { findFlow, writeFlow } from '../workflows/flows.ts';
import { getOwnRun } from './own-run.ts';

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
