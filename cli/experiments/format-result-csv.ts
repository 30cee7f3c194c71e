/** The indicators of a result as CSV, with full precision. */
import { formatCsvLines } from '@switchyard/contract/presentation/format-csv.ts';
import type { ExperimentResult } from './experiment-result.ts';

const COLUMNS = [
  ...['control', 'candidate', 'indicator', 'role', 'verdict', 'interim', 'measure'],
  ...['control_mean', 'candidate_mean', 'change', 'low', 'high', 'p_value', 'adjusted_p_value'],
  ...['wins', 'ties', 'losses'],
];

/** Returns a line for each indicator of each candidate. A change of the measure `relative` is a share. */
export function formatResultCsv({ compared, table }: ExperimentResult): string {
  if (table) return formatCsvLines([table.columns.map((column) => column.toLowerCase()), ...table.rows]);
  return formatCsvLines([
    COLUMNS,
    ...compared.flatMap(({ names, indicators }) =>
      indicators.map((view) => [
        ...[names.control, names.candidate, view.indicator, view.role, view.verdict, String(view.interim)],
        ...[view.effect.measure, view.control, view.candidate, view.effect.value, view.effect.low],
        ...[view.effect.high, view.pValue, view.adjustedPValue],
        ...[view.tally?.wins, view.tally?.ties, view.tally?.losses],
      ]),
    ),
  ]);
}
