/** Pictures of the terminal, as tables of cases. */
import { describe, expect, test } from 'vitest';
import { drawDotPlot } from './dot-plot.ts';
import { chooseGlyphs } from './glyphs.ts';
import { drawIntervalPlot } from './interval-plot.ts';
import { drawProgress } from './progress-bar.ts';
import { drawTallyBar } from './tally-bar.ts';
import { drawUnitTimeline } from './unit-timeline.ts';

const ASCII = chooseGlyphs({ LANG: 'C' });
const UTF8 = chooseGlyphs({ LANG: 'en_GB.UTF-8' });
const format = String;

test.each([
  { env: {}, dot: 'o' },
  { env: { LANG: 'C' }, dot: 'o' },
  { env: { LANG: 'de_DE.utf8' }, dot: '●' },
  { env: { LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, dot: 'o' },
  { env: { WT_SESSION: '1' }, dot: '●' },
])('the locale $env has the dot $dot', ({ env, dot }) => {
  expect(chooseGlyphs(env).dot).toBe(dot);
});

describe('an interval plot', () => {
  const settings = { domain: [-10, 10] as const, format, width: 40, glyphs: ASCII };
  const margin = { low: -2, high: 2 };
  test.each([
    {
      title: 'an interval',
      low: -8,
      value: -5,
      high: -4,
      line: 'cost   [--o-]  :  |  :              better',
    },
    {
      title: 'no interval',
      low: null,
      value: 5,
      high: null,
      line: 'cost             :  |  :    o        better',
    },
    {
      title: 'no estimate',
      low: null,
      value: null,
      high: null,
      line: 'cost             :  |  :             better',
    },
    {
      title: 'a cut interval',
      low: -90,
      value: 3,
      high: 90,
      line: 'cost <---------------o-------->  better',
    },
  ])('shows $title', ({ low, value, high, line }) => {
    const lines = drawIntervalPlot([{ label: 'cost', low, value, high, margin, word: 'better' }], settings);
    const shrink = (text: string | undefined): string | undefined => text?.replaceAll(/ +/g, ' ');
    expect(shrink(lines[1])).toBe(shrink(line));
    expect(lines.every((one) => one.length <= settings.width)).toBe(true);
  });

  test('cuts a long label, and has the bounds of the axis', () => {
    const row = { label: 'x'.repeat(60), low: -1, value: 0, high: 1, margin: null, word: 'undecided' };
    const [axis, line] = drawIntervalPlot([row], { ...settings, width: 80 });
    expect(axis).toMatch(/^ +-10 +10$/);
    expect(line).toMatch(/^x{26}\.\. /);
  });
});

test('a dot plot has the line of no change, and crosses below for failed inputs', () => {
  const dots = [-2, 0, 2, null].map((value) => ({ value, isSolid: true }));
  expect(drawDotPlot(dots, { baseline: 0, format, width: 12, height: 3, glyphs: UTF8 })).toEqual([
    ' 2       ●',
    ' 0  ───●────',
    '-2   ●',
    '           ×',
  ]);
});

test('more dots than columns stay within the width', () => {
  const dots = Array.from({ length: 500 }, (_, index) => ({ value: index, isSolid: true }));
  const lines = drawDotPlot(dots, { format, width: 30, glyphs: UTF8 });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30);
  expect(lines).toHaveLength(9);
});

test.each([
  { counts: [2, 1, 1], bar: '####==..' },
  { counts: [8, 0, 0], bar: '########' },
  { counts: [1, 0, 99], bar: '#.......' },
  { counts: [1, 1, 998], bar: '#=......' },
  { counts: [0, 0, 0], bar: '' },
])('a tally of $counts fills the bar', ({ counts, bar }) => {
  const [wins = 0, ties = 0, losses = 0] = counts;
  const parts = [
    { word: 'won', count: wins },
    { word: 'tied', count: ties },
    { word: 'lost', count: losses },
  ] as const;
  expect(drawTallyBar(parts, { width: 8, glyphs: ASCII })).toEqual([
    bar,
    `# ${wins} won   = ${ties} tied   . ${losses} lost`,
  ]);
});

test('a timeline has a strip for each side, with hollow marks for units that do not count', () => {
  const units = [
    { isCandidate: true, mean: 4, isCounted: true },
    { isCandidate: false, mean: 6, isCounted: false },
    { isCandidate: true, mean: null, isCounted: false },
  ];
  const lines = drawUnitTimeline(units, { format, width: 40, glyphs: ASCII });
  expect(lines.slice(0, 2)).toEqual(['candidate  o .', 'baseline    .']);
  expect(lines).toContain('Means of the candidate');
});

test.each([
  {
    progress: { ended: 12, total: 24, failed: 1, remainingMs: 30_000 },
    line: '[##########..........] 12 of 24 runs, 1 failed, about 30\u00a0s to go',
  },
  { progress: { ended: 3, total: 0, failed: 0, remainingMs: undefined }, line: '3 runs' },
  { progress: { ended: 1, total: 0, failed: 0, remainingMs: undefined }, line: '1 run' },
])('the progress is "$line"', ({ progress, line }) => {
  expect(drawProgress(progress, ASCII)).toBe(line);
});
