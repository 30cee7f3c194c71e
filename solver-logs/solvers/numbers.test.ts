/** Numbers in each notation that a solver writes. */
import { expect, test } from 'vitest';
import { isGap, parseNumber, parsePercentage } from './numbers.ts';

test.each<[string, number | undefined]>([
  ['2940', 2940],
  ['-0', -0],
  ['+1.41800000000000e+03', 1418],
  ['.5', 0.5],
  ['3.', 3],
  ["1'274", 1274],
  ["-12'345'678.25", -12345678.25],
  ['1,234,567', 1234567],
  ['66,67', 66.67],
  ['4,0000', 4],
  ['13k', 13000],
  ['6514k', 6514000],
  ['2M', 2000000],
  ['9.99e+19', 9.99e19],
  ['1e+20', undefined],
  ['-1.00000e+75', undefined],
  ['1e+100', undefined],
  ['inf', undefined],
  ['-inf', undefined],
  ['Infinity', undefined],
  ['NaN', undefined],
  ['nan', undefined],
  ['-', undefined],
  ['--', undefined],
  ['---', undefined],
  ['', undefined],
  ['0x10', undefined],
  ['1e', undefined],
  ['1.2.3', undefined],
  ['1_000', undefined],
  ['9'.repeat(41), undefined],
])('parseNumber(%j)', (token, value) => {
  expect(parseNumber(token)).toBe(value);
});

test.each<[string, number | undefined, boolean]>([
  ['38.46%', 0.3846, true],
  ['0%', 0, true],
  ['100%', 1, true],
  ['1,234.5%', 12.345, true],
  ['66,67%', 0.6667, true],
  ['-', undefined, true],
  ['---', undefined, true],
  ['Large', undefined, true],
  ['inf', undefined, true],
  ['12.5', undefined, false],
  ['x%', undefined, false],
])('parsePercentage(%j)', (token, ratio, isColumn) => {
  expect(parsePercentage(token)).toBe(ratio);
  expect(isGap(token)).toBe(isColumn);
});
