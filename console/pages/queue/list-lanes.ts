/** Assigns the running runs to the slots of the workers. Pure. */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { Worker, WorkerSlots } from '@switchyard/contract/workers/workers.ts';

/** A slot: a run of this account, a run of another account, or nothing. */
export type Lane = { kind: 'run'; run: ActiveRun } | { kind: 'other' } | { kind: 'free' };

/** The slots of a worker that some execution classes share. */
export interface LaneGroup {
  /** Unique in the list. */
  id: string;
  title: string;
  lanes: Lane[];
}

/** Returns the slots of each worker with their runs, then the runs whose worker is gone, until they are requeued. */
export function listLanes(workers: readonly Worker[], running: readonly ActiveRun[]): LaneGroup[] {
  const rest = new Map<string, ActiveRun>(running.map((run) => [run.id, run]));
  const groups = workers.flatMap((worker) => listWorkerLanes(worker, rest));
  const without = [...rest.values()].filter((run) => !startInFreeLane(groups, run));
  if (without.length > 0)
    groups.push({
      id: 'none',
      title: 'Without a worker',
      lanes: without.map((run) => ({ kind: 'run', run })),
    });
  return groups.map(({ classes, ...group }) => group);
}

interface WorkerGroup extends LaneGroup {
  classes?: readonly string[];
}

/** Removes the runs of the worker from `rest`. A worker that drains offers no slots and still has runs. */
function listWorkerLanes(worker: Worker, rest: Map<string, ActiveRun>): WorkerGroup[] {
  const name = worker.host || worker.id;
  const acquireRuns = (classes: readonly string[]): Lane[] =>
    worker.runs.flatMap(({ run_id, execution_class }): Lane[] => {
      const run = rest.get(run_id);
      if (run === undefined || !classes.includes(execution_class)) return [];
      rest.delete(run_id);
      return [{ kind: 'run', run }];
    });
  const pools = worker.slots.map((pool): WorkerGroup => {
    const lanes = acquireRuns(pool.execution_classes);
    const others = Math.max(0, pool.busy - lanes.length - countUnknown(worker, pool, lanes));
    lanes.push(...repeatLane('other', Math.min(others, worker.other_runs)));
    lanes.push(...repeatLane('free', pool.slots - lanes.length));
    return {
      id: `${worker.id} ${pool.execution_classes.join(' ')}`,
      title: `${name}: ${pool.slots} ${pool.slots === 1 ? 'slot' : 'slots'} for ${describeClasses(pool)}`,
      classes: worker.status === 'active' ? pool.execution_classes : [],
      lanes,
    };
  });
  const remaining = acquireRuns(EXECUTION_CLASSES);
  if (remaining.length === 0) return pools;
  return [...pools, { id: worker.id, title: `${name}: ${worker.status}`, lanes: remaining }];
}

/** Returns the number of runs of the pool that the worker still has, and that the queue no longer shows. */
function countUnknown(worker: Worker, pool: WorkerSlots, lanes: readonly Lane[]): number {
  const classes: readonly string[] = pool.execution_classes;
  return worker.runs.filter((run) => classes.includes(run.execution_class)).length - lanes.length;
}

function repeatLane(kind: 'other' | 'free', count: number): Lane[] {
  return Array.from({ length: Math.max(0, count) }, () => ({ kind }));
}

/** Puts a run that its worker does not list yet into a free slot of its class; returns false without one. */
function startInFreeLane(groups: readonly WorkerGroup[], run: ActiveRun): boolean {
  for (const { classes, lanes } of groups) {
    const index = lanes.findIndex(({ kind }) => kind === 'free');
    if (index < 0 || !classes?.includes(run.execution_class)) continue;
    lanes[index] = { kind: 'run', run };
    return true;
  }
  return false;
}

/** Returns the execution classes of the slots in words. */
function describeClasses({ execution_classes: classes }: WorkerSlots): string {
  return classes.length === EXECUTION_CLASSES.length ? 'all execution classes' : classes.join(', ');
}
