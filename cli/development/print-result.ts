/** Prints the result of a local run: status, indicators, and the objective over time as a chart. */
import { decodeUtf8 } from '@switchyard/contract/decode-utf8.ts';
import { formatBytes, formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { formatLineChart } from '../terminal/line-chart.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import type { LocalResult } from './local-run.ts';

const CHART_LINES = 10;
/** One value is no line. */
const CHART_POINTS_MIN = 2;

/** Prints the result in the form of the command. With `--quiet` it prints the objective value alone. */
export function printResult(output: Output, result: LocalResult, isUnicode: boolean): void {
  const { status, error, executionMs, peakMemoryBytes, statistics, series } = result;
  output.print({
    json: {
      status_v2: status,
      error,
      execution_duration: executionMs,
      peak_memory: peakMemoryBytes,
      statistics,
      series,
      output: parseOutput(result.output),
    },
    text: () => formatResult(output, result, isUnicode),
    quiet: () => {
      const value = statistics.indicators.find(({ name }) => name === 'result.value')?.value;
      return value === undefined ? [] : String(value);
    },
  });
}

function formatResult({ style, width, tableWidth }: Output, result: LocalResult, isUnicode: boolean): string {
  const { status, error, executionMs, peakMemoryBytes, statistics, series } = result;
  const memory = peakMemoryBytes === null ? '' : ` with ${formatBytes(peakMemoryBytes)} of memory`;
  const tone = status === 'succeeded' ? 'good' : 'bad';
  const parts = [
    `\n${style(tone, `Run ${status}`)} after ${formatDuration(executionMs)}${memory}.\n`,
    error === '' ? '' : `${cleanText(error)}\n`,
    statistics.error === '' ? '' : `${cleanText(statistics.error)}\n`,
  ];
  if (statistics.indicators.length > 0) {
    const columns = {
      INDICATOR: ({ name }: { name: string }) => name,
      VALUE: { value: ({ value }: { value: unknown }) => String(value), isNumeric: true },
    };
    parts.push('\n', formatTable(statistics.indicators, columns, { tableWidth, style }));
  }
  const [first] = series;
  if (first && first.points.length >= CHART_POINTS_MIN) {
    const name = cleanLine(first.name);
    const points = first.points.map(({ x, y }) => [x, y]);
    const settings = { width, height: CHART_LINES, isUnicode, style };
    parts.push(
      `\n${style('strong', name)}\n`,
      formatLineChart([{ name, points }], { ...settings, unit: 's' }),
    );
  }
  return parts.join('');
}

/** The output as a JSON value; its size when it is an archive. */
function parseOutput(output: Buffer | null): unknown {
  if (output === null) return null;
  try {
    return JSON.parse(decodeUtf8(output));
  } catch {
    return { bytes: output.length };
  }
}
