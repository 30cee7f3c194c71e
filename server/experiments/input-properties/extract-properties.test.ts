/** Values of an input that count as a cluster or as a feature. */
import { describe, expect, test } from 'vitest';
import { extractProperties } from './extract-properties.ts';
import { listFieldSources } from './property-sources.ts';

const extract = (input: unknown, settings: { cluster_by?: string[]; features?: string[] }) =>
  extractProperties(Buffer.from(JSON.stringify(input)), listFieldSources(settings));

describe('a feature', () => {
  test.each([
    ['a number', 12.5, 12.5],
    ['zero with a sign', -0, 0],
    ['a text', 'north', 'north'],
    ['a flag', false, 'false'],
    ['the length of an array', [1, [2], {}], 3],
    ['the number of keys of an object', { a: 1, b: 2 }, 2],
    ['no text of more than 100 characters', 'x'.repeat(101), undefined],
    ['no null', null, undefined],
  ])('is %s', (_name, value, expected) => {
    expect(extract({ field: value }, { features: ['/field'] }).features['/field']).toBe(expected);
  });
});

describe('a pointer', () => {
  test.each([
    ['/a/b', 1],
    ['/list/1', 7],
    ['/x~1y', 2],
    ['/x~0y', 3],
    ['/', 4],
    ['/a/missing', undefined],
    ['/text/length', undefined],
    ['/__proto__', undefined],
    ['/constructor', undefined],
  ])('%s leads to %s', (pointer, expected) => {
    const input = { a: { b: 1 }, list: [6, 7], 'x/y': 2, 'x~y': 3, '': 4, text: 'abc' };
    expect(extract(input, { features: [pointer] }).features[pointer]).toBe(expected);
  });

  test('leads to nothing in a text that is no JSON', () => {
    const sources = listFieldSources({ cluster_by: ['/a'], features: ['/a'] });
    expect(extractProperties(Buffer.from('{"a":'), sources)).toEqual({ clusters: {}, features: {} });
  });
});

describe('a cluster', () => {
  const label = (value: unknown) => extract({ field: value }, { cluster_by: ['/field'] }).clusters['/field'];

  test.each([
    ['a text', 'north', 'north'],
    ['a number', 3, '3'],
    ['nothing for null', null, undefined],
  ])('is %s', (_name, value, expected) => expect(label(value)).toBe(expected));

  test('tells long texts and lists apart', () => {
    expect(label('x'.repeat(1000))).not.toBe(label(`${'x'.repeat(999)}y`));
    expect(label([1, 2])).toBe(label([1, 2]));
    expect(label([1, 2])).not.toBe(label([2, 1]));
  });

  test.each([
    ['2026-11-20', '2026-11-20'],
    ['2026-11-20T23:30:00Z', '2026-11-20'],
    ['2026-11-20T23:30:00-02:00', '2026-11-21'],
    ['2026-11-20T23:30:00', '2026-11-20'],
    ['2026-99-20', undefined],
    ['tomorrow', undefined],
  ])('of the day of %s is %s', (time, expected) => {
    const { clusters } = extract({ at: time }, { cluster_by: ['day:/at'] });
    expect(clusters['day:/at']).toBe(expected);
  });
});
