/** Adds points of the stream of a run to its series. Pure. */
import type { RunSeries, RunSolve, SolverPhase } from '../run-series.ts';

export interface RunSeriesList {
  series: RunSeries[];
  phases: SolverPhase[];
  solves: RunSolve[];
}

/** A `series` event. With `reset`, its points replace those of the log and of the resources. */
export interface SeriesChange extends RunSeriesList {
  reset: boolean;
}

/** The series of a run before its first event. */
export const NO_SERIES: RunSeriesList = { series: [], phases: [], solves: [] };

/** Returns the series with the points of the event. */
export function mergeSeries(before: RunSeriesList, change: SeriesChange): RunSeriesList {
  const known = change.reset ? NO_SERIES : before;
  const statistics = before.series.filter(({ source }) => source === 'statistics');
  const merged = change.reset ? statistics : [...before.series];
  for (const added of change.series) {
    const index = merged.findIndex(
      ({ name, source, solve }) => name === added.name && source === added.source && solve === added.solve,
    );
    const found = merged[index];
    if (found) merged[index] = { ...found, points: joinPoints(found.points, added.points) };
    else merged.push(added);
  }
  const solves = new Map(known.solves.map((solve) => [solve.solve, solve]));
  for (const solve of change.solves) solves.set(solve.solve, solve);
  return { series: merged, phases: [...known.phases, ...change.phases], solves: [...solves.values()] };
}

/** Points with a larger x than the first new one came from lines without a time, which arrived late: they move to its x. */
function joinPoints(before: number[][], added: number[][]): number[][] {
  const [start = Number.POSITIVE_INFINITY] = added[0] ?? [];
  const moved = before.map((point) => ((point[0] ?? 0) > start ? [start, point[1] ?? 0] : point));
  return [...moved, ...added];
}
