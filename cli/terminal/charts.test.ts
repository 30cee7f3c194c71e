/** Pictures of numbers, and what a terminal can show. */
import { expect, test } from 'vitest';
import { formatProgress } from '../commands/contents/transfer-progress.ts';
import { formatLineChart } from './line-chart.ts';
import { createLiveLine } from './live-line.ts';
import { formatSparkline } from './sparkline.ts';
import { supportsUnicode } from './unicode.ts';

const style = (_tone: string, text: string): string => text;

test.each([
  [[0, 1, 2, 3, 4, 5, 6, 7], 8, true, '▁▂▃▄▅▆▇█'],
  [[7, 0], 8, false, '#_'],
  [[3, 3, 3], 8, true, '▅▅▅'],
  // Of four values in two columns, each column has the last of its two.
  [[9, 0, 0, 9], 2, true, '▁█'],
  [[Number.NaN, 1, 2], 8, true, '▁█'],
  [[], 8, true, ''],
])('the sparkline of %j in %i columns', (values, width, isUnicode, expected) => {
  expect(formatSparkline(values, { width, isUnicode })).toBe(expected);
});

const points = [
  [0, 100],
  [5, 50],
  [10, 0],
];

test('a chart steps down from the largest value to the smallest, above the range of x', () => {
  const settings = { width: 16, height: 5, isUnicode: false, style, unit: 's' };
  expect(formatLineChart([{ name: 'objective', points }], settings)).toBe(`\
100 |******
    |     ******
  0 |          *
    +-----------
    0       10 s
`);
});

test('a chart of two series has braille dots and a legend', () => {
  const bound = { name: 'bound', points: [[0, 0]] };
  const settings = { width: 14, height: 4, isUnicode: true, style };
  expect(formatLineChart([{ name: 'objective', points }, bound], settings)).toBe(`\
100 ┤⠉⠉⠉⠉⠉⡇
  0 ┤⡀    ⠉⠉⠉⠉⢹
    └──────────
    0        10
    ⣿ objective   ⣿ bound
`);
});

test('a chart without a finite point has no lines', () => {
  const settings = { width: 40, height: 8, isUnicode: true, style };
  expect(formatLineChart([{ name: 'gap', points: [[0, Number.NaN]] }], settings)).toBe('');
});

test.each([
  [{ LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, false],
  [{ LC_CTYPE: 'de_DE.utf8' }, true],
  [{}, false],
])('the locale %j shows Unicode: %s', (env, expected) => {
  expect(supportsUnicode({ env })).toBe(expected);
});

test('a progress has its share, its sizes and its rate', () => {
  const half = { label: 'Uploading', total: 12e6, bytes: 6e6, ms: 2000, isUnicode: false };
  expect(formatProgress(half)).toBe(
    'Uploading [############------------]  50 %  6\u00a0MB of 12\u00a0MB  3\u00a0MB/s',
  );
  expect(formatProgress({ ...half, total: undefined })).toBe('Uploading 6\u00a0MB  3\u00a0MB/s');
  // The rate is that of the bytes since the start.
  expect(formatProgress({ ...half, bytesBefore: 4_000_000 })).toContain(
    ' 50 %  6\u00a0MB of 12\u00a0MB  1\u00a0MB/s',
  );
  expect(formatProgress({ ...half, total: 0, bytes: 0, ms: 0 })).toContain('100 %');
});

test('a live line is cut at the width of the terminal, and never in a pipe', () => {
  const written: string[] = [];
  const err = { write: (text: string | Uint8Array) => written.push(String(text)), isTTY: true, columns: 6 };
  const line = createLiveLine({ err, env: {} });
  line.update('0123456789');
  line.printAbove(() => written.push('log\n'));
  line.end();
  const erase = '\r\u001b[2K';
  expect(written).toEqual([`${erase}01234`, erase, 'log\n', `${erase}01234`, erase]);
  written.length = 0;
  const pipe = createLiveLine({ err: { ...err, isTTY: false }, env: {} });
  pipe.update('x');
  pipe.printAbove(() => written.push('log\n'));
  expect(written).toEqual(['log\n']);
});
