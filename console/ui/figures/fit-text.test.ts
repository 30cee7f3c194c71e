import { expect, test } from 'vitest';
import { fitText } from './fit-text.ts';

test.each([
  ['short', 70, 'short'],
  ['exactly 10', 70, 'exactly 10'],
  ['eleven long', 70, 'eleven lo…'],
  ['x', 3, 'x…'],
  // Four characters of 12.5 px and the ellipsis of 7 px.
  ['北部地区所有车辆', 60, '北部地区…'],
  ['北部地区', 50, '北部地区'],
  // A surrogate pair is one character.
  ['🚚🚚🚚🚚', 45, '🚚🚚🚚…'],
])('a name is cut by the width of its script, not by its length: %s in %d px', (text, width, expected) => {
  expect(fitText(text, width)).toBe(expected);
});
