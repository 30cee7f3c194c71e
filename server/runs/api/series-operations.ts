/** The operation that reads the series of a run. */
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { parseSeries } from '@switchyard/contract/runs/statistics-series.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { parseStatistics } from '../run-columns.ts';
import { findSeriesAfter } from '../series/series-rows.ts';
import type { RunsTable } from '../store/schema.ts';
import { getOwnRun } from './own-run.ts';

export const getRunSeries: OperationHandler<'getRunSeries'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  const stored = await findSeriesAfter(context.database.read, run.id, -1);
  const series = [...(stored?.series ?? []), ...listStatisticsSeries(run)];
  return { status: 200, body: { series, phases: stored?.phases ?? [], solves: stored?.solves ?? [] } };
};

/** Returns the series of the statistics block, which has at most 10 kB. They are not stored a second time. */
function listStatisticsSeries(run: Pick<RunsTable, 'id' | 'statistics'>): RunSeries[] {
  return parseSeries(parseStatistics(run)).map(({ name, points }) => ({
    name,
    source: 'statistics',
    solve: null,
    points: points.map(({ x, y }) => [x, y]),
  }));
}
