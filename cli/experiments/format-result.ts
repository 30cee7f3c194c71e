/** The result of an experiment as text: the verdict, the pictures, then the table. */
import {
  formatAdjustment,
  formatChange,
  formatInterval,
  formatPValue,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { formatSides, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { drawDotPlot } from '../terminal/pictures/dot-plot.ts';
import type { Glyphs } from '../terminal/pictures/glyphs.ts';
import { drawIntervalPlot } from '../terminal/pictures/interval-plot.ts';
import { drawTallyBar } from '../terminal/pictures/tally-bar.ts';
import { drawUnitTimeline } from '../terminal/pictures/unit-timeline.ts';
import type { Style } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';
import { describeIndicator } from './describe-result.ts';
import type { ComparedView, ExperimentResult, PicturedIndicator } from './experiment-result.ts';

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
    ...[drawIntervals(indicators, settings), drawIndicator(chosen, result.unit, settings)]
      .filter((lines) => lines.length > 0)
      .flatMap((lines) => [...lines, '']),
    formatIndicators(indicators, settings),
  ];
}

function drawIntervals(
  indicators: readonly PicturedIndicator[],
  { width, glyphs }: ResultSettings,
): string[] {
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

const OUTCOMES = { none: ['lower', 'equal', 'higher'], minimize: ['won', 'tied', 'lost'] } as const;

function drawIndicator(
  { indicator, objective, effect, pairs = [], tally, units }: PicturedIndicator,
  unit: string,
  { width, glyphs }: ResultSettings,
): string[] {
  if (units)
    return [
      `Units of ${cleanText(indicator)} in the order of time (${glyphs.dot} counted, ${glyphs.hollow} not)`,
      ...drawUnitTimeline(units, { format: formatValue, width, glyphs }),
    ];
  const changes = pairs.flatMap(({ change, failed }) =>
    change === null && failed === null ? [] : [{ value: change, isSolid: true }],
  );
  const words = objective === 'none' ? OUTCOMES.none : OUTCOMES.minimize;
  const { wins = 0, ties = 0, losses = 0 } = tally ?? {};
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
    ...(wins + ties + losses === 0
      ? []
      : drawTallyBar(
          [
            { word: words[0], count: wins },
            { word: words[1], count: ties },
            { word: words[2], count: losses },
          ],
          { width, glyphs },
        )),
  ];
}

function formatIndicators(indicators: readonly PicturedIndicator[], settings: ResultSettings): string {
  return formatTable(
    indicators,
    {
      INDICATOR: 'indicator',
      ROLE: { value: ({ role }) => role, isOptional: true },
      VERDICT: { value: ({ verdict }) => verdict, tone: ({ verdict }) => TONES[verdict] },
      CONTROL: {
        value: ({ control, candidate }) => formatSides([control, candidate])[0],
        isNumeric: true,
        isOptional: true,
      },
      CANDIDATE: {
        value: ({ control, candidate }) => formatSides([control, candidate])[1],
        isNumeric: true,
        isOptional: true,
      },
      CHANGE: { value: ({ effect }) => formatEffect(effect), isNumeric: true },
      '95 % INTERVAL': { value: ({ effect }) => formatInterval(effect), isNumeric: true },
      P: { value: ({ pValue }) => formatPValue(pValue), isNumeric: true, isOptional: true },
      'ADJUSTED P': { value: ({ adjustedPValue }) => formatPValue(adjustedPValue), isNumeric: true },
    },
    settings,
  );
}

const TONES: Readonly<Record<string, 'good' | 'bad'>> = { better: 'good', worse: 'bad' };

/** Formats the estimate and what it is adjusted for; empty without one. */
export function formatEffect(effect: PicturedIndicator['effect']): string {
  if (effect.value === null) return '';
  const adjustment = formatAdjustment(effect);
  return `${formatChange(effect.measure, effect.value)}${adjustment && `, ${adjustment}`}`;
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
