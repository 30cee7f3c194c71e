/** Groups of units by the value of a feature. */
import { describe, expect, test } from 'vitest';
import { groupByFeature } from './features.ts';
import type { PairedUnit } from './paired/units.ts';

/** Builds a unit with the value; undefined for none. */
function buildUnit(value: number | string | undefined, index: number): PairedUnit {
  return {
    input_ids: [`input-${index}`],
    position: index,
    last_block: null,
    clusters: {},
    features: value === undefined ? {} : { feature: value },
    state: 'complete',
    pairs: 1,
    control_failed: 0,
    candidate_failed: 0,
    control: 1,
    candidate: 1,
    effect: 0,
    pair_values: [],
    pair_effects: [0],
    hidden_effect: 0,
  };
}

const count = (number: number) => Array.from({ length: number }, (_, index) => index + 1);
const repeat = <Value>(value: Value, times: number): Value[] => Array.from({ length: times }, () => value);

function group(values: readonly (number | string | undefined)[]) {
  const { type, groups, missing } = groupByFeature(values.map(buildUnit), 'feature');
  return { type, missing, groups: groups.map(({ label, units }) => [label, units.length]) };
}

describe('numbers', () => {
  test.each<[string, number[], [string, number][]]>([
    [
      'of 30 units are thirds',
      count(30),
      [
        ['1 to 10', 10],
        ['11 to 20', 10],
        ['21 to 30', 10],
      ],
    ],
    [
      'of 14 units are halves',
      count(14),
      [
        ['1 to 7', 7],
        ['8 to 14', 7],
      ],
    ],
    ['of 9 units are one group', count(9), [['1 to 9', 9]]],
    [
      'that are equal stay together',
      [...repeat(1, 10), ...repeat(2, 6)],
      [
        ['1', 10],
        ['2', 6],
      ],
    ],
    ['that are all equal are one group', repeat(0.125, 30), [['0.125', 30]]],
    [
      'in any order',
      [3, 1, 2, 6, 5, 4, 9, 8, 7, 10],
      [
        ['1 to 5', 5],
        ['6 to 10', 5],
      ],
    ],
  ])('%s', (_name, values, groups) => {
    expect(group(values)).toEqual({ type: 'number', missing: 0, groups });
  });
});

describe('categories', () => {
  test('are ordered by size, and rare ones are one group', () => {
    const values = [...repeat('b', 5), ...repeat('a', 7), ...repeat('c', 4), 'd', undefined];
    expect(group(values)).toEqual({
      type: 'category',
      missing: 1,
      groups: [
        ['a', 7],
        ['b', 5],
        ['other', 5],
      ],
    });
  });

  test('are at most six beside the others', () => {
    const values = count(8).flatMap((category) => repeat(`c${category}`, 5));
    expect(group(values).groups).toEqual([...count(6).map((category) => [`c${category}`, 5]), ['other', 10]]);
  });

  test('include numbers beside texts', () => {
    expect(group([...repeat(1, 5), ...repeat('two', 6)])).toMatchObject({
      type: 'category',
      groups: [
        ['two', 6],
        ['1', 5],
      ],
    });
  });
});
