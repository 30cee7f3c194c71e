/** The result of an experiment as text: the verdict, the pictures, then the table. */
import {
  formatChange,
  formatInterval,
  formatPValue,
  formatValue,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { formatSignificant } from '@switchyard/contract/presentation/format-quantity.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { drawDotPlot } from '../terminal/pictures/dot-plot.ts';
import type { Glyphs } from '../terminal/pictures/glyphs.ts';
import { drawIntervalPlot } from '../terminal/pictures/interval-plot.ts';
import { drawTallyBar } from '../terminal/pictures/tally-bar.ts';
import { drawUnitTimeline } from '../terminal/pictures/unit-timeline.ts';
import type { Style } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';
import type { ComparedView, ExperimentResult, IndicatorView } from './experiment-result.ts';
import { describeIndicator } from './read-result.ts';

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
export function formatResult(result: ExperimentResult, settings: ResultSettings): string {
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
    ...(result.table ? [formatResultTable(result.table, settings)] : []),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n').trimEnd()}\n`)
    .join('\n');
}

function formatRules({ rules = [] }: ExperimentResult, { style }: ResultSettings): string[] {
  return rules.flatMap(({ rule, isPassed, reason, warnings }) => [
    `${style(isPassed ? 'good' : 'bad', isPassed ? 'met    ' : 'not met')}  ${cleanText(rule)}`,
    `         ${cleanText(reason)}`,
    ...warnings.map((warning) => `         Warning: ${cleanText(warning)}`),
  ]);
}

function formatCompared(
  compared: ComparedView,
  result: ExperimentResult,
  settings: ResultSettings,
): string[] {
  const { indicators, names } = compared;
  const chosen = indicators.find(({ indicator }) => indicator === settings.indicator) ?? indicators[0];
  if (!chosen) return [];
  const title = `${cleanText(names.candidate)} against ${cleanText(names.control)}`;
  return [
    settings.style('strong', title),
    ...(chosen === indicators[0] ? [] : [cleanText(describeIndicator(compared, chosen))]),
    ...[...chosen.reasons, ...chosen.warnings.map((one) => `Warning: ${one}`)].map(
      (one) => `  ${cleanText(one)}`,
    ),
    '',
    ...drawIntervals(indicators, settings),
    '',
    ...drawIndicator(chosen, result.unit, settings),
    '',
    formatIndicators(indicators, settings),
  ];
}

function drawIntervals(indicators: readonly IndicatorView[], { width, glyphs }: ResultSettings): string[] {
  const visible = indicators.slice(0, INTERVALS_MAX);
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
          format: (value) => formatChange(measure, value),
          width,
          glyphs,
        },
      ),
    ),
  ];
}

const OUTCOMES = { none: ['lower', 'equal', 'higher'], minimize: ['won', 'tied', 'lost'] } as const;

function drawIndicator(
  { indicator, objective, effect, pairs = [], tally, units }: IndicatorView,
  unit: string,
  { width, glyphs }: ResultSettings,
): string[] {
  if (units)
    return [
      `Units of ${cleanText(indicator)} in the order of time (${glyphs.dot} counted, ${glyphs.hollow} not)`,
      ...drawUnitTimeline(units, { format: formatMean, width, glyphs }),
    ];
  const words = objective === 'none' ? OUTCOMES.none : OUTCOMES.minimize;
  const bar = tally && [
    { word: words[0], count: tally.wins },
    { word: words[1], count: tally.ties },
    { word: words[2], count: tally.losses },
  ];
  return [
    ...(pairs.length === 0
      ? []
      : [
          `Change of ${cleanText(indicator)} by ${unit}, sorted (${glyphs.dot} one ${unit}, ${glyphs.cross} one side failed)`,
          ...drawDotPlot(
            pairs.flatMap(({ change, failed }) =>
              change === null && failed === null ? [] : [{ value: change, isSolid: true }],
            ),
            { baseline: 0, format: (value) => formatChange(effect.measure, value), width, glyphs },
          ),
          '',
        ]),
    ...(bar?.[0] && bar[1] && bar[2] ? drawTallyBar([bar[0], bar[1], bar[2]], { width, glyphs }) : []),
  ];
}

const MEAN_DIGITS = 5;
const formatMean = (value: number): string => formatSignificant(value, MEAN_DIGITS);

function formatIndicators(indicators: readonly IndicatorView[], settings: ResultSettings): string {
  return formatTable(
    indicators,
    [
      { title: 'INDICATOR', value: ({ indicator }) => indicator },
      { title: 'ROLE', value: ({ role }) => role, isOptional: true },
      { title: 'VERDICT', value: ({ verdict }) => verdict, tone: ({ verdict }) => TONES[verdict] },
      { title: 'CONTROL', value: ({ control }) => formatValue(control), isNumeric: true, isOptional: true },
      {
        title: 'CANDIDATE',
        value: ({ candidate }) => formatValue(candidate),
        isNumeric: true,
        isOptional: true,
      },
      { title: 'CHANGE', value: ({ effect }) => formatEffect(effect), isNumeric: true },
      { title: '95 % INTERVAL', value: ({ effect }) => formatInterval(effect), isNumeric: true },
      { title: 'P', value: ({ pValue }) => formatPValue(pValue), isNumeric: true, isOptional: true },
      { title: 'ADJUSTED P', value: ({ adjustedPValue }) => formatPValue(adjustedPValue), isNumeric: true },
    ],
    settings,
  );
}

const TONES: Readonly<Record<string, 'good' | 'bad'>> = { better: 'good', worse: 'bad' };

/** Formats the estimate; empty without one. */
export function formatEffect({ measure, value }: IndicatorView['effect']): string {
  return value === null ? '' : formatChange(measure, value);
}

function formatResultTable(
  { title, columns, rows }: NonNullable<ExperimentResult['table']>,
  settings: ResultSettings,
): string[] {
  return [
    title,
    formatTable(
      rows,
      columns.map((column, index) => ({ title: column, value: (row: readonly string[]) => row[index] })),
      settings,
    ),
  ];
}
