/** Places the steps of a workflow: each in the column after those of its predecessors. Pure. */
import type { Flow } from '@switchyard/contract/runs/flow.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';

type Graph = Flow['pipeline_graph'];

/** The states of steps and nodes that the console shows. */
export type StepStatus = Extract<RunStatusV2, 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled'>;

export interface PlacedStep {
  id: string;
  docs: string;
  /** The application that the step runs; empty for a step of the workflow itself. */
  application: string;
  status: StepStatus;
  nodes: Graph['nodes'];
  /** The number of nodes that have succeeded. */
  doneCount: number;
  column: number;
  row: number;
}

export interface PlacedGraph {
  steps: PlacedStep[];
  /** From a step to one of its successors. */
  edges: { from: PlacedStep; to: PlacedStep }[];
  columns: number;
  rows: number;
}

/** Returns the state of a node. One that its workflow left unfinished is canceled: nothing will finish it. */
export function readNodeStatus({ status }: { status: string }, hasEnded: boolean): StepStatus {
  if (status === 'succeeded' || status === 'failed') return status;
  if (hasEnded) return 'canceled';
  return status === 'running' ? 'running' : 'queued';
}

function readStepStatus(nodes: Graph['nodes'], hasEnded: boolean): StepStatus {
  const found = new Set(nodes.map((node) => readNodeStatus(node, hasEnded)));
  for (const status of ['failed', 'canceled', 'running'] as const) if (found.has(status)) return status;
  if (found.size === 0) return hasEnded ? 'canceled' : 'queued';
  // Some nodes have ended and others wait.
  return found.size > 1 ? 'running' : found.has('succeeded') ? 'succeeded' : 'queued';
}

/** Places the steps. A step in a circle, which no workflow can have, stands in the column where the search met it. */
export function layoutGraph({ steps, nodes }: Graph, hasEnded: boolean): PlacedGraph {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const columns = new Map<string, number>();
  const findColumn = (id: string): number => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    columns.set(id, 0);
    const before = (byId.get(id)?.predecessors ?? []).filter((one) => byId.has(one));
    const column = Math.max(-1, ...before.map(findColumn)) + 1;
    columns.set(id, column);
    return column;
  };
  const rows = new Map<number, number>();
  const placed = [...byId.values()].map(({ id, docs, app_id }): PlacedStep => {
    const column = findColumn(id);
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    const own = nodes.filter((node) => node.parent_id === id);
    return {
      ...{ id, column, row, nodes: own },
      docs: (docs ?? '').trim(),
      application: app_id ?? '',
      status: readStepStatus(own, hasEnded),
      doneCount: own.filter(({ status }) => status === 'succeeded').length,
    };
  });
  const places = new Map(placed.map((step) => [step.id, step]));
  const edges = placed.flatMap((to) =>
    (byId.get(to.id)?.predecessors ?? []).flatMap((id) => {
      const from = places.get(id);
      return from ? [{ from, to }] : [];
    }),
  );
  return { steps: placed, edges, columns: rows.size, rows: Math.max(0, ...rows.values()) };
}
