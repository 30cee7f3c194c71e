/** The colours of tokens.css: hues that everybody tells apart, and enough contrast, in both themes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { computeContrast, computeDifference, type Lab, parseHex, seeAs, VISIONS } from './colour.ts';

const [tokens = ''] = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8').split(':root[data-theme');

/** Returns a token in the light and in the dark theme. */
function readToken(name: string): Record<'light' | 'dark', string> {
  const found = new RegExp(`--${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(tokens);
  const [light = found?.[3], dark = found?.[3]] = [found?.[1], found?.[2]];
  if (light === undefined || dark === undefined) throw new Error(`tokens.css has no colour ${name}.`);
  return { light, dark };
}

const HUES = Array.from({ length: 8 }, (_, index) => `data-${index + 1}`);
const THEMES = ['light', 'dark'] as const;

/** Pairs of the table of Sharma, Wu and Dalal, 2005, with their differences to four decimals. */
const REFERENCE: readonly (readonly [Lab, Lab, number])[] = [
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, 3.1571, -77.2803], [50, 0, -82.7485], 2.8615],
  [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1.0],
  [[50, 0, 0], [50, -1, 2], 2.3669],
  [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
  [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
  [[50, -0.001, 2.49], [50, 0.0009, -2.49], 4.8045],
  [[50, 2.5, 0], [50, 0, -2.5], 4.3065],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[50, 2.5, 0], [61, -5, 29], 22.8977],
  [[50, 2.5, 0], [56, -27, -3], 31.903],
  [[50, 2.5, 0], [58, 24, 15], 19.4535],
  [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  [[63.0109, -31.0961, -5.8663], [62.8187, -29.7946, -4.0864], 1.263],
  [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
  [[6.7747, -0.2908, -2.4247], [5.8714, -0.0985, -2.2286], 0.6377],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
];

test.for(REFERENCE)('the difference of %j and %j is %d, both ways', ([one, other, expected]) => {
  expect(computeDifference(one, other)).toBeCloseTo(expected, 4);
  expect(computeDifference(other, one)).toBeCloseTo(expected, 4);
});

test('a colour becomes what it is in CIELAB', () => {
  const lab = seeAs(VISIONS.usual ?? expect.fail(), parseHex('#ff0000'));
  for (const [index, expected] of [53.24, 80.09, 67.2].entries()) expect(lab[index]).toBeCloseTo(expected, 1);
  expect(computeContrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
});

describe.for(THEMES)('the %s theme', (theme) => {
  const read = (name: string) => readToken(name)[theme];

  test.for(Object.entries(VISIONS))('has eight hues that differ by 10 or more for %s', ([, vision]) => {
    const seen = HUES.map((name) => seeAs(vision, parseHex(read(name))));
    const close = seen.flatMap((one, first) =>
      seen.slice(first + 1).flatMap((other, index) => {
        const difference = computeDifference(one, other);
        return difference < 10 ? [`${first + 1} and ${first + index + 2}: ${difference.toFixed(1)}`] : [];
      }),
    );
    expect(close).toEqual([]);
  });

  test('keeps control and candidate apart for everybody', () => {
    for (const [name, vision] of Object.entries(VISIONS)) {
      const [control, candidate] = ['control', 'data-1'].map((one) => seeAs(vision, parseHex(read(one))));
      if (control && candidate) expect(computeDifference(control, candidate), name).toBeGreaterThan(20);
    }
  });

  /** Names with the grounds that they stand on. */
  const TEXTS = ['ink', 'soft', 'faint', 'accent', 'good', 'bad', 'warning', 'running', 'neutral'];
  const CODE = ['keyword', 'string', 'constant', 'function', 'parameter', 'comment', 'punctuation'];
  const PAGES = ['ground', 'surface', 'raised', 'hover'];
  const MEANINGS = ['good', 'bad', 'warning', 'running', 'neutral', 'accent'];

  test.for([
    ['text', 4.5, TEXTS, PAGES],
    ['code', 4.5, CODE.map((name) => `code-${name}`), ['ground', 'surface']],
    [
      'text on a chosen row and on a button under the pointer',
      4.5,
      ['ink', 'soft'],
      ['ground-hover', 'menu-hover'],
    ],
    ['selected text', 4.5, ['ink'], ['selection']],
    ...MEANINGS.map((name) => [`${name} on its ground`, 4.5, [name, 'ink'], [`${name}-ground`]] as const),
    ['the words of the primary action', 4.5, ['on-accent'], ['accent', 'accent-hover']],
    ['the words of what destroys', 4.5, ['on-danger'], ['danger']],
    ['the border of a field', 3, ['line-field'], PAGES],
    ['a hue', 3, [...HUES, 'control'], ['surface']],
  ] as const)('%s has a contrast of %d', ([, least, inks, grounds]) => {
    const low = inks.flatMap((ink) =>
      grounds.flatMap((ground) => {
        const contrast = computeContrast(read(ink), read(ground));
        return contrast < least ? [`${ink} on ${ground}: ${contrast.toFixed(2)}`] : [];
      }),
    );
    expect(low).toEqual([]);
  });
});
