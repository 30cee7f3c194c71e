/** Words for the end of a solve, beside the status of its run. Pure. */
import { formatPercent } from '../../presentation/format-quantity.ts';
import type { RunSeries, RunSolve } from '../run-series.ts';

type SolveStatus = NonNullable<RunSolve['status']>;

const STATUS_WORDS: Readonly<Record<SolveStatus, string>> = {
  optimal: 'optimal',
  feasible: 'feasible, not proven optimal',
  infeasible: 'infeasible: the model has no solution',
  unbounded: 'unbounded: the objective has no limit',
  infeasible_or_unbounded: 'infeasible or unbounded',
  time_limit: 'stopped by its time limit',
  interrupted: 'interrupted',
  memory_limit: 'stopped by its memory limit',
  error: 'ended with an error',
};

/** A solve that ends so has proven nothing wrong. Of any other end a reader of the run should know. */
const PLAIN: ReadonlySet<SolveStatus | null> = new Set(['optimal', 'feasible', null] as const);

/**
 * Returns the series that a picture of the run shows: of several solves in a log those of the last one with an objective, and
 * all that belong to no solve. The values of two models have nothing to do with each other.
 */
export function listMainSeries<Series extends Pick<RunSeries, 'name' | 'solve'>>(
  series: readonly Series[],
): Series[] {
  const ofSolves = series.filter(({ solve }) => solve !== null);
  const main = ofSolves.findLast(({ name }) => name === 'objective') ?? ofSolves.at(-1);
  return series.filter(({ solve }) => solve === null || solve === main?.solve);
}

/** Returns `HiGHS 1.16.0`. */
export function nameSolver({ solver, version }: Pick<RunSolve, 'solver' | 'version'>): string {
  return version === null ? solver : `${solver} ${version}`;
}

/** Returns `HiGHS 1.16.0: stopped by its time limit, gap 2.7 %`; without a status only the name. */
export function describeSolve(solve: RunSolve): string {
  const words = describeStatus(solve);
  return words === undefined ? nameSolver(solve) : `${nameSolver(solve)}: ${words}`;
}

/** Returns `stopped by its time limit, gap 2.7 %`; undefined while the log does not say. */
export function describeStatus({ status, objective, gap }: RunSolve): string | undefined {
  if (status === null) return undefined;
  const isOpen = status !== 'optimal' && gap !== null && objective !== null;
  const without = status === 'time_limit' && objective === null ? ' without a solution' : '';
  return `${STATUS_WORDS[status]}${without}${isOpen ? `, gap ${formatPercent(gap)}` : ''}`;
}

/**
 * Returns what a reader of an ended run should know beside "succeeded": that a solve stopped early, or that a model has no
 * solution. Undefined if the last solve says nothing of that kind.
 */
export function findSolveCaveat(solves: readonly RunSolve[]): string | undefined {
  const last = solves.at(-1);
  if (!last || PLAIN.has(last.status)) return undefined;
  return describeStatus(last);
}
