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

/** Two objectives of one solution, which a solver prints with fewer digits here and more there. */
const SAME_SHARE = 1e-6;

function isSameObjective(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_SHARE * Math.max(1, Math.abs(other));
}

/**
 * Returns the solve that a run is about: the last one. CPLEX solves a linear program again with the integers that its search
 * has found, and calls that optimal whatever the search has proven: then it is the search.
 */
export function findMainSolve(solves: readonly RunSolve[]): RunSolve | undefined {
  const [search, last] = solves.length > 1 ? solves.slice(-2) : [undefined, solves.at(-1)];
  if (!search || !last || last.nodes !== null || search.nodes === null) return last;
  const { objective } = search;
  const isSame = objective !== null && last.objective !== null && isSameObjective(last.objective, objective);
  return isSame && search.solver === last.solver ? search : last;
}

/**
 * Returns the series that a picture of the run shows: those of the last solve with an objective, and those of no solve. The
 * values of two models have nothing to do with each other. The one value of a linear program that repeats the search before
 * it is no picture.
 */
export function listMainSeries(series: readonly RunSeries[]): RunSeries[] {
  const objectives = series.filter(({ solve, name }) => solve !== null && name === 'objective');
  const [search, last] = objectives.length > 1 ? objectives.slice(-2) : [undefined, objectives.at(-1)];
  const repeated = search?.points.at(-1)?.[1];
  const [only, ...more] = last?.points ?? [];
  const isRepetition =
    repeated !== undefined &&
    only?.[1] !== undefined &&
    more.length === 0 &&
    isSameObjective(only[1], repeated);
  const main = (isRepetition ? search : last) ?? series.findLast(({ solve }) => solve !== null);
  return series.filter(({ solve }) => solve === null || solve === main?.solve);
}

/** Returns true for a series whose values are bytes, such as the memory of a run. */
export const isOfBytes = ({ source, name }: Pick<RunSeries, 'source' | 'name'>): boolean =>
  source === 'resources' && name !== 'cpu';

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
 * solution. Undefined if the main solve says nothing of that kind.
 */
export function findSolveCaveat(solves: readonly RunSolve[]): string | undefined {
  const main = findMainSolve(solves);
  if (!main || PLAIN.has(main.status)) return undefined;
  return describeStatus(main);
}
