import { listImprovements } from '@switchyard/contract/runs/presentation/describe-progress.ts';
import { listMainSeries } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { seriesQuery } from '../queries.ts';
import { findBound, findObjective, isOverSeconds } from './objective-series.ts';

/** Returns the series of a run, and what those of its objective say over its time. */
export function useProgress(run: RunInformation) {
  const { data } = useQuery(seriesQuery({ application: run.application_id, run: run.id }));
  const { objective: meaning } = useMeaning(run.application_id);
  return useMemo(() => {
    const series = listMainSeries(data?.series ?? []);
    const objective = findObjective(series);
    const isTimed = objective !== undefined && isOverSeconds(objective);
    const points = isTimed ? objective.points : [];
    return {
      series,
      phases: data?.phases ?? [],
      objective,
      points,
      bound: findBound(series)?.points.at(-1)?.[1],
      improved: listImprovements(points, meaning.direction),
    };
  }, [data, meaning.direction]);
}
