/** The duration and the cost of an ensemble run, from the times of its child runs. Pure. */
import type { EnsembleUsage } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { TimedChildRun } from '../../runs/store/ensemble-runs.ts';

/** The usage of an ensemble run, and the conditions under which it started. */
export interface MeasuredUsage {
  usage: EnsembleUsage;
  /** The conditions of its first child run, in JSON; null for none. */
  startConditions: string | null;
}

/** Returns the usage of the child runs, which have ended; null when none of them started. */
export function computeUsage(children: readonly TimedChildRun[]): MeasuredUsage | null {
  const started = children.flatMap(({ initiated_at, finished_at, ...child }) =>
    initiated_at === null || finished_at === null
      ? []
      : [{ ...child, from: initiated_at, to: Math.max(initiated_at, finished_at) }],
  );
  const [first] = started.toSorted((a, b) => a.from - b.from || (a.id < b.id ? -1 : 1));
  if (!first) return null;
  const firstEnd = Math.min(...started.map(({ to }) => to));
  const lastEnd = Math.max(...started.map(({ to }) => to));
  const executionMs = started.reduce((total, { execution_ms }) => total + (execution_ms ?? 0), 0);
  return {
    usage: {
      started_at: formatRfc3339(first.from),
      wall_seconds: (lastEnd - first.from) / 1000,
      total_seconds: Math.round(executionMs) / 1000,
      has_waited: started.some(({ from }) => from > firstEnd),
    },
    startConditions: first.start_conditions,
  };
}
