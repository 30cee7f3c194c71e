/** Statements on the graphs of workflows. */
import { Flow } from '@switchyard/contract/runs/flow.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { locked } from '../../platform/database/row-locks.ts';

interface StoredFlow {
  graph: Flow['pipeline_graph'];
  /** In milliseconds. */
  updatedAt: number;
}

const parseGraph = parseColumn('run_flows', 'run_id', 'graph', Flow.properties.pipeline_graph);

/** Returns the last graph of the run; null when it has none. */
export async function findFlow(db: Reader, run: RunId): Promise<StoredFlow | null> {
  const row = await db.selectFrom('run_flows').selectAll().where('run_id', '=', run).executeTakeFirst();
  if (!row) return null;
  return { graph: parseGraph(row), updatedAt: row.updated_at };
}

/**
 * Replaces the graph of the run; returns false when the run is gone, or when `fence` is not that of its present attempt.
 * Blocks the deletion of the run until the transaction ends.
 */
export async function writeFlow(
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
