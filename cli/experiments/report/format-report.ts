/** The result of an experiment as one HTML file, in the frame that the report of the console has. */

import { EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { describePairs } from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import {
  escapeHtml,
  formatReportDocument,
  formatReportFooter,
} from '@switchyard/contract/experiments/presentation/report-document.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { type Format, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import type {
  ComparedView,
  ExperimentView,
  IndicatorView,
} from '@switchyard/contract/views/experiment-view.ts';
import { INDICATOR_COLUMNS } from '@switchyard/contract/views/indicator-columns.ts';
import { drawIntervals, drawValues } from './svg-pictures.ts';

const formatTexts = (text: string): string => escapeHtml(escapeInvisible(text));
const formatList = (texts: readonly string[]): string =>
  texts.length === 0 ? '' : `<ul>${texts.map((text) => `<li>${formatTexts(text)}</li>`).join('')}</ul>`;

function formatHtmlTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = columns.map((column) => `<th scope="col">${formatTexts(column)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${formatTexts(cell)}</td>`).join('')}</tr>`);
  return `<section><table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></section>`;
}

/** Returns the HTML of the report. `page` is the address of the experiment in the console. */
export function formatReport(result: ExperimentView, page: string, now: Date): string {
  const { name, status, address, headlines, looks, warnings, rules = [], table } = result;
  const parts = [
    `<header><h1>${formatTexts(name)}</h1><p>${EXPERIMENTS[address.type].label} ${formatTexts(address.id)}, ${status}</p></header>`,
    ...headlines.map((headline) => `<h2>${formatTexts(headline)}</h2>`),
    looks === undefined ? '' : `<p>${formatTexts(looks)}</p>`,
    formatList(warnings),
    rules.length === 0
      ? ''
      : `<h3>Rules</h3>${formatHtmlTable(
          ['Rule', 'Result', 'Reason'],
          rules.map(({ rule, rating, reason }) => [rule, rating, reason]),
        )}`,
    ...result.compared.map((compared) => formatCompared(compared, result.unit)),
    table ? `<h3>${formatTexts(table.title)}</h3>${formatHtmlTable(table.columns, table.rows)}` : '',
    formatReportFooter(page, now),
  ];
  return formatReportDocument(name, parts.join('\n'));
}

function formatCompared({ names, indicators }: ComparedView, unit: string): string {
  const [first] = indicators;
  if (!first) return '';
  const scales = (['relative', 'absolute'] as const).map((measure) =>
    drawIntervals(indicators.filter(({ effect }) => effect.measure === measure)),
  );
  return [
    `<h2>${formatTexts(names.candidate)} against ${formatTexts(names.control)}</h2>`,
    formatList([...first.reasons, ...first.warnings]),
    '<h3>Change of each indicator</h3><p>The estimate with its 95 % interval. The band is the margin of equivalence; the vertical line is no change.</p>',
    ...scales,
    formatValues(first, unit),
    '<h3>All indicators</h3>',
    formatHtmlTable(
      INDICATOR_COLUMNS.map(({ title }) => title),
      indicators.map((view) => INDICATOR_COLUMNS.map(({ value }) => value(view) ?? '')),
    ),
  ].join('\n');
}

function formatValues(view: IndicatorView, unit: string): string {
  const { indicator, listPairs, units, effect } = view;
  if (units)
    return `<h3>Units in the order of time</h3>${(['candidate', 'baseline'] as const)
      .map((side) => {
        const own = units.filter(
          ({ isCandidate, mean }) => isCandidate === (side === 'candidate') && mean !== null,
        );
        const values = own.map(({ mean, isCounted }) => ({ value: mean, isSolid: isCounted }));
        const label = `Means of the ${side}`;
        return `<p>${label}</p>${drawValues(values, { label, format: formatValue })}`;
      })
      .join('')}`;
  const values = (listPairs?.() ?? [])
    .filter(({ change, failed }) => change !== null || failed !== null)
    .map(({ change }) => ({ value: change, isSolid: true }));
  const label = `Change of ${indicator} by ${unit}`;
  const format: Format = (value, moreDigits) => formatChange(effect.measure, value, moreDigits);
  const described = describePairs(view, unit);
  const counts = described === null ? '' : `<p>${formatTexts(described)}</p>`;
  if (values.length === 0) return counts;
  return `<h3>${formatTexts(label)}</h3>${drawValues(values, { label, format, baseline: 0 })}${counts}`;
}
