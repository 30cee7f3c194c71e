/** The numbers of a run over its time, as charts. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { formatBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { isOfBytes, listMainSeries } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatLineChart } from '../../terminal/line-chart.ts';
import { formatSparkline } from '../../terminal/sparkline.ts';
import { supportsUnicode } from '../../terminal/unicode.ts';
import type { RunParams } from './follow-run.ts';

type Series = ResponseBody<'getRunSeries'>['series'][number];

/** The progress of a solver; the console draws it in this order too. */
const PROGRESS_NAMES = ['objective', 'incumbent', 'bound'];
const CHART_LINES = 13;
const SPARKLINE_COLUMNS = 24;

/**
 * Returns the objective first, then the bound. A run without them in its log has the series of its statistics, which are mostly
 * the same numbers, and else the first other series of its log.
 */
export function chooseProgress(series: readonly Series[]): Series[] {
  const fromLog = listMainSeries(series.filter(({ source }) => source === 'log'));
  const progress = PROGRESS_NAMES.flatMap((name) => fromLog.filter((one) => one.name === name));
  if (progress.length > 0) return progress;
  const statistics = series.filter(({ source }) => source === 'statistics');
  return statistics.length > 0 ? statistics : fromLog.slice(0, 1);
}

/** Returns one chart with the series. They have the same x. */
export function drawSeries(session: Session, series: readonly Series[]): string {
  const { output, terminal } = session;
  return formatLineChart(
    series.map(({ name, points }) => ({ name: cleanLine(name), points })),
    {
      width: output.width,
      height: CHART_LINES,
      isUnicode: supportsUnicode(terminal),
      style: output.style,
      ...(series.every(({ source }) => source !== 'statistics') && { unit: 's' }),
      ...(series.every(isOfBytes) && { format: formatBytes }),
    },
  );
}

/** Prints all series of a run as a table, or those with a name as a chart. */
export async function printSeries(
  session: Session,
  params: RunParams,
  name: string | undefined,
): Promise<void> {
  const { body } = await session.connect().call('getRunSeries', { params });
  const isUnicode = supportsUnicode(session.terminal);
  if (name !== undefined) {
    const named = body.series.filter((one) => one.name === name);
    if (named.length === 0) throw createUnknownSeries(params, name, body.series);
    session.output.print({
      json: { series: named },
      text: () => named.map((one) => drawSeries(session, [one])).join('\n'),
      quiet: () => name,
    });
    return;
  }
  session.output.printTable(
    body.series,
    {
      SERIES: 'name',
      SOURCE: 'source',
      POINTS: { value: ({ points }) => points.length, isNumeric: true },
      FIRST: { value: (one) => formatEnd(one, 0), isNumeric: true },
      LAST: { value: (one) => formatEnd(one, -1), isNumeric: true },
      CHART: ({ points }) =>
        formatSparkline(
          points.map(([, y = 0]) => y),
          { width: SPARKLINE_COLUMNS, isUnicode },
        ),
    },
    { json: body, empty: `Run ${params.run_id} has no series.`, id: ({ name }) => name },
  );
}

function formatEnd(series: Series, index: number): string {
  const value = series.points.at(index)?.[1];
  if (value === undefined) return '';
  return isOfBytes(series) ? formatBytes(value) : formatNumber(value);
}

function createUnknownSeries({ run_id }: RunParams, name: string, series: readonly Series[]): CommandError {
  const known = [...new Set(series.map((one) => cleanLine(one.name)))].join(', ');
  return new CommandError(
    `Run ${run_id} has no series "${name}"; it has ${known || 'none'}.`,
    EXIT_CODES.notFound,
  );
}
