/** The result of an experiment as text, with the verdict, the pictures and the table, and as CSV. */

import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { countPairs } from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import { formatCsvLines } from '@switchyard/contract/presentation/format-csv.ts';
import { formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import type {
  ComparedView,
  ExperimentView,
  IndicatorView,
} from '@switchyard/contract/views/experiment-view.ts';
import { describeIndicator } from '@switchyard/contract/views/experiment-view.ts';
import { INDICATOR_COLUMNS } from '@switchyard/contract/views/indicator-columns.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { drawDotPlot } from '../terminal/pictures/dot-plot.ts';
import type { Glyphs } from '../terminal/pictures/glyphs.ts';
import { drawIntervalPlot } from '../terminal/pictures/interval-plot.ts';
import { drawTallyBar } from '../terminal/pictures/tally-bar.ts';
import { drawUnitTimeline } from '../terminal/pictures/unit-timeline.ts';
import type { Style } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';

interface ResultSettings {
  width: number;
  tableWidth: number;
  style: Style;
  glyphs: Glyphs;
  /** The indicator of the pictures by input; the first one decides. */
  indicator?: string;
  /** The only candidate; all without one. */
  candidate?: string;
}

/** Rows beyond these show no pattern in a picture; the table has all. */
const INTERVALS_MAX = 12;

/** Formats the result. */
export function formatResult(result: ExperimentView, settings: ResultSettings): string {
  const { style } = settings;
  const sections = [
    [
      ...(result.headlines.length > 0
        ? result.headlines.map((line) => style('strong', cleanText(line)))
        : [`${result.address.id} is ${result.status}; it has no result yet.`]),
    ],
    ...(result.rules ? [formatRules(result, settings)] : []),
    result.warnings.map((warning) => `Warning: ${cleanText(warning)}`),
    ...result.compared
      .filter(({ names }) => settings.candidate === undefined || names.candidate === settings.candidate)
      .map((compared) => formatCompared(compared, result, settings)),
    ...(result.table ? [[formatResultTable(result.table, settings)]] : []),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n').trimEnd()}\n`)
    .join('\n');
}

function formatRules({ rules = [] }: ExperimentView, { style }: ResultSettings): string[] {
  return rules.flatMap(({ rule, rating, reason, warnings }) => [
    `${style(rating === 'passed' ? 'good' : 'bad', rating.padEnd(10))}  ${cleanText(rule)}`,
    `            ${cleanText(reason)}`,
    ...warnings.map((warning) => `            Warning: ${cleanText(warning)}`),
  ]);
}

function formatCompared(compared: ComparedView, result: ExperimentView, settings: ResultSettings): string[] {
  const { indicators, names } = compared;
  const chosen = indicators.find(({ indicator }) => indicator === settings.indicator) ?? indicators[0];
  if (!chosen) return [];
  const title = `${cleanText(names.candidate)} against ${cleanText(names.control)}`;
  return [
    settings.style('strong', title),
    ...(chosen === indicators[0] ? [] : [cleanText(describeIndicator(names, chosen))]),
    ...[...chosen.reasons, ...chosen.warnings.map((one) => `Warning: ${one}`)].map(
      (one) => `  ${cleanText(one)}`,
    ),
    '',
    ...[drawIntervals(indicators, settings), drawIndicator(chosen, result.unit, settings)]
      .filter((lines) => lines.length > 0)
      .flatMap((lines) => [...lines, '']),
    formatIndicators(indicators, settings),
  ];
}

function drawIntervals(indicators: readonly IndicatorView[], { width, glyphs }: ResultSettings): string[] {
  const visible = indicators.slice(0, INTERVALS_MAX);
  if (visible.every(({ effect }) => effect.value === null)) return [];
  const { dot, line, start, end, zero, margin } = glyphs;
  // A ratio and a difference have no axis in common.
  const groups = (['relative', 'absolute'] as const)
    .map((measure) => ({ measure, own: visible.filter(({ effect }) => effect.measure === measure) }))
    .filter(({ own }) => own.length > 0);
  return [
    `Change of each indicator (${start}${line}${dot}${line}${end} estimate with 95 % interval, ${zero} no change, ${margin} margin)`,
    ...groups.flatMap(({ measure, own }) =>
      drawIntervalPlot(
        own.map(({ indicator, verdict, effect }) => ({ ...effect, label: indicator, word: verdict })),
        {
          domain: findDomain(own.map(({ effect }) => effect)),
          format: (value, moreDigits) => formatChange(measure, value, moreDigits),
          width,
          glyphs,
        },
      ),
    ),
  ];
}

function drawIndicator(view: IndicatorView, unit: string, { width, glyphs }: ResultSettings): string[] {
  const { indicator, objective, effect, listPairs, units } = view;
  if (units)
    return [
      `Units of ${cleanText(indicator)} in the order of time (${glyphs.dot} counted, ${glyphs.hollow} not)`,
      ...drawUnitTimeline(units, { format: formatValue, width, glyphs }),
    ];
  const pairs = listPairs?.() ?? [];
  const changes = pairs.flatMap(({ change, failed }) =>
    change === null && failed === null ? [] : [{ value: change, isSolid: true }],
  );
  const { won, within, lost } = countPairs(pairs, view);
  return [
    ...(changes.length === 0
      ? []
      : [
          `Change of ${cleanText(indicator)} by ${unit}, sorted (${glyphs.dot} one ${unit}, ${glyphs.cross} one side failed)`,
          ...drawDotPlot(changes, {
            baseline: 0,
            format: (value, moreDigits) => formatChange(effect.measure, value, moreDigits),
            width,
            glyphs,
          }),
          '',
        ]),
    ...(won + within + lost === 0
      ? []
      : drawTallyBar(
          [
            { word: objective === 'none' ? 'lower' : 'won', count: won },
            { word: effect.margin?.high ? 'within the margin' : 'equal', count: within },
            { word: objective === 'none' ? 'higher' : 'lost', count: lost },
          ],
          { width, glyphs },
        )),
  ];
}

function formatIndicators(indicators: readonly IndicatorView[], settings: ResultSettings): string {
  const columns = INDICATOR_COLUMNS.map((column) => ({
    ...column,
    title: column.title.toUpperCase(),
    ...(column.title === 'Verdict' && { tone: ({ verdict }: IndicatorView) => TONES[verdict] }),
  }));
  return formatTable(indicators, columns, settings);
}

const TONES: Readonly<Record<string, 'good' | 'bad'>> = { better: 'good', worse: 'bad' };

/** Returns the title and the lines of a table of texts. */
export function formatResultTable(
  { title, columns, rows }: NonNullable<ExperimentView['table']>,
  settings: Pick<ResultSettings, 'tableWidth' | 'style'>,
): string {
  const texts = columns.map((column, index) => ({
    title: column,
    value: (row: readonly string[]) => row[index],
  }));
  return `${title}\n${formatTable(rows, texts, settings)}`;
}

const CSV_COLUMNS = [
  ...['control', 'candidate', 'indicator', 'role', 'verdict', 'interim', 'measure'],
  ...['control_mean', 'candidate_mean', 'change', 'low', 'high', 'p_value', 'adjusted_p_value'],
  ...['wins', 'ties', 'losses'],
];

/** Returns the indicators as CSV with all digits: a line for each indicator of each candidate. A change of the measure `relative` is a share. */
export function formatResultCsv({ compared, table }: ExperimentView): string {
  if (table) return formatCsvLines([table.columns.map((column) => column.toLowerCase()), ...table.rows]);
  return formatCsvLines([
    CSV_COLUMNS,
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
