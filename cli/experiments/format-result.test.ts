/** Texts of results that need no server: units of a switchback test, steps of a search, and the winner of an ensemble. */
import { getRunEnsemble } from '@switchyard/contract/runs/ensembles.ts';
import type { ExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { expect, test } from 'vitest';
import { chooseGlyphs } from '../terminal/pictures/glyphs.ts';
import { formatEnsembleRun } from './format-ensemble-run.ts';
import { formatResult } from './format-result.ts';
import { formatReport } from './report/format-report.ts';

const SETTINGS = {
  width: 80,
  tableWidth: 80,
  style: (_tone: string, text: string) => text,
  glyphs: chooseGlyphs({ LANG: 'C' }),
};
const HOSTILE = '<script>alert(1)</script>\u001b[2J';

const SWITCHBACK: ExperimentView = {
  address: { application: 'routing', type: 'switchback', id: 'hours' },
  name: HOSTILE,
  status: 'completed',
  headlines: [`${HOSTILE} is better`],
  isPassed: null,
  warnings: [],
  unit: 'unit',
  body: {},
  compared: [
    {
      names: { control: 'old', candidate: 'new' },
      indicators: [
        {
          ...{ indicator: 'cost', role: 'primary', objective: 'minimize', verdict: 'better', interim: false },
          ...{ reasons: ['The interval excludes 0.'], warnings: [], control: 10, candidate: 8 },
          effect: { measure: 'absolute', value: -2, low: -3, high: -1, margin: { low: -0.1, high: 0.1 } },
          ...{ pValue: 0.01, adjustedPValue: 0.01 },
          units: [
            { isCandidate: true, mean: 8, isCounted: true },
            { isCandidate: false, mean: 10, isCounted: true },
          ],
        },
      ],
    },
  ],
};

test('the result of a switchback test has its units, and no escape sequences of other people', () => {
  const text = formatResult(SWITCHBACK, SETTINGS);
  expect(text).toContain('candidate  o\nbaseline    o\n');
  expect(text).toContain('  The interval excludes 0.');
  expect(text).not.toContain('\u001b');
});

test('the report has the means of both sides, and markup of other people is text', () => {
  const html = formatReport(SWITCHBACK, 'http://127.0.0.1/console', new Date(0));
  expect(html).toContain('Means of the candidate');
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>');
  expect(html).toContain('1970-01-01 00:00 UTC');
});

test('T9: the report says which look at its question the experiment is', () => {
  const looks = 'This is look 3 & more.';
  const html = formatReport({ ...SWITCHBACK, looks }, 'http://127.0.0.1/console', new Date(0));
  expect(html).toContain('<p>This is look 3 &amp; more.</p>');
});

test('a result without a verdict says so', () => {
  const { compared: _, ...rest } = SWITCHBACK;
  const text = formatResult({ ...rest, status: 'started', headlines: [], compared: [] }, SETTINGS);
  expect(text).toBe('hours is started; it has no result yet.\n');
});

test('an ensemble run says why its winner won, and why the other runs were dropped', () => {
  const text = formatEnsembleRun(JSON.parse(JSON.stringify(getRunEnsemble.responses[200].example)), SETTINGS);
  expect(text).toMatch(
    /^run-01jd3v7mb4hw6c9c won\. Rule 2 decided: of 2 equal runs, it alone has the lowest/,
  );
  expect(text).toContain('  run-01jd3v7mb4hw6c9b: 860.1 is more than 1 % away from 812.4, the lowest.');
  expect(text).toContain('best run');
});
