/** Numbers for people. */
import { describe, expect, test } from 'vitest';
import {
  distinguish,
  type Format,
  formatBinaryBytes,
  formatBytes,
  formatDuration,
  formatExactPercent,
  formatMoney,
  formatNumber,
  formatPercent,
  formatRatio,
  formatValue,
} from './format-quantity.ts';

/** Texts are written here with plain spaces and hyphens. */
const write = (text: string): string => text.replaceAll(' ', '\u00a0').replaceAll('-', '−');

const FORMATS: Record<string, Format> = {
  number: formatNumber,
  value: formatValue,
  percent: formatPercent,
  'exact percent': formatExactPercent,
  ratio: formatRatio,
  bytes: formatBytes,
  'binary bytes': formatBinaryBytes,
  money: (amount, moreDigits) => formatMoney(amount, 'EUR', moreDigits),
};

test.each<[keyof typeof FORMATS, number, string]>([
  ['number', 1234567, '1,234,567'],
  ['number', 2177874.75, '2,177,874.75'],
  ['number', 123456789012345, '123,456,789,012,345'],
  ['number', 0.1 + 0.2, '0.3'],
  ['number', -0, '0'],
  ['number', 1e300, '1e+300'],
  ['value', 2177874.75, '2,177,875'],
  ['value', -812.43721, '-812.437'],
  ['value', 999999.96, '1,000,000'],
  ['value', 0.0290556123, '0.0290556'],
  ['value', 1.5e17, '1.5e+17'],
  ['percent', -0.0784, '-7.8 %'],
  ['percent', 0.5, '50 %'],
  ['percent', 12.3456, '1,235 %'],
  ['percent', 0.000234, '0.023 %'],
  ['percent', -3.5 / 2177874.75, '-0.00016 %'],
  ['percent', 0, '0 %'],
  ['percent', 1.7e308, '1.7e+310 %'],
  ['exact percent', 0.0125, '1.25 %'],
  ['exact percent', 0.07, '7 %'],
  ['ratio', 1.25, '1.25'],
  ['bytes', 64, '64 B'],
  ['bytes', 1_234_567, '1.23 MB'],
  ['bytes', 999_499, '999 kB'],
  ['bytes', 999_700, '1 MB'],
  ['bytes', 999_999, '1 MB'],
  ['binary bytes', 1_047_900, '1,023 KiB'],
  ['bytes', 500_000_000, '500 MB'],
  ['bytes', 4e15, '4,000 TB'],
  ['binary bytes', 65_536, '64 KiB'],
  ['binary bytes', 1_048_575, '1 MiB'],
  ['money', 1234.5, '€1,234.50'],
  ['money', -0.000412, '-€0.00041'],
  ['money', 12, '€12.00'],
])('W3: %s %d is %s', (kind, value, text) => {
  const written = kind === 'number' || kind === 'value' ? text.replace(/^-/, '−') : write(text);
  expect(FORMATS[kind]?.(value)).toBe(written);
});

test.each([
  [0, '0 ms'],
  [0.42, '0.42 ms'],
  [999, '999 ms'],
  [999.7, '1 s'],
  [2_190, '2.2 s'],
  [59_999, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [86_400_000 + 4 * 3_600_000, '1 d 4 h'],
  [86_399_999, '1 d'],
  [-1500, '−1.5 s'],
])('W3: %d milliseconds are %s', (ms, text) => {
  // No line ends inside a duration.
  expect(formatDuration(ms)).toBe(text.replaceAll(' ', '\u00a0'));
});

describe('W3: values that are compared', () => {
  test.each<[string, number[], Format, string[]]>([
    ['are written apart', [2177874.75, 2177874.25], formatValue, ['2,177,874.8', '2,177,874.3']],
    ['have no more digits than needed', [2177874.75, 2177871.25], formatValue, ['2,177,875', '2,177,871']],
    ['may be equal', [5, 5], formatValue, ['5', '5']],
    ['durations', [200_000, 200_040], formatDuration, ['3 min 20 s', '3 min 20.04 s']],
    ['hours', [3_900_000, 3_901_000], formatDuration, ['1 h 5 min', '1 h 5 min 1 s']],
    ['bytes', [10_485_760, 10_485_777], formatBytes, ['10.48576 MB', '10.48578 MB']],
    ['shares', [0.08841, 0.08844], formatPercent, ['8.841 %', '8.844 %']],
    ['neighbouring doubles', [0.3, 0.1 + 0.2], formatNumber, ['0.3', '0.30000000000000004']],
  ])('%s', (_title, values, format, texts) => {
    expect(values.map(distinguish(values, format)).map((text) => text.replaceAll('\u00a0', ' '))).toEqual(
      texts,
    );
  });
});
