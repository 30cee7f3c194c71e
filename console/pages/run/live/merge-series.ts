/** Adds points of the stream of a run to its series. Pure. */
import type { RunSeries, SolverPhase } from '@switchyard/contract/runs/run-series.ts';

export interface RunSeriesList {
  series: RunSeries[];
  phases: SolverPhase[];
}

/** A `series` event. With `reset`, its points replace those of the log and of the resources. */
export interface SeriesChange extends RunSeriesList {
  reset: boolean;
}

/** Returns the series with the points of the event. */
export function mergeSeries(before: RunSeriesList, change: SeriesChange): RunSeriesList {
  const base = change.reset ? before.series.filter(({ source }) => source === 'statistics') : before.series;
  const merged = [...base];
  for (const added of change.series) {
    const index = merged.findIndex(({ name, source }) => name === added.name && source === added.source);
    const found = merged[index];
    if (found) merged[index] = { ...found, points: [...found.points, ...added.points] };
    else merged.push(added);
  }
  return { series: merged, phases: [...(change.reset ? [] : before.phases), ...change.phases] };
}
