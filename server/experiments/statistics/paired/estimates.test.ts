/** Means with a value for failed runs, such as penalised average runtimes. */
import { describe, expect, test } from 'vitest';
import {
  ABSOLUTE,
  buildSide,
  compareRuns,
  compareValues,
  type Value,
} from '../../../testing/fixtures/paired-runs.ts';

describe('a value for failed runs (PAR10)', () => {
  const control: (Value | Value[])[] = [3, [5, undefined], 40, 7, undefined, 20, 11];
  const candidate: (Value | Value[])[] = [2, [4, 6], undefined, 9, undefined, 18, 12];
  const replace = (side: (Value | Value[])[]) => side.map((value) => [value].flat().map((one) => one ?? 600));

  test('gives the means, difference and ratio of runs that took it, and the same verdict', () => {
    const found = compareValues(control, candidate, { failure_value: 600 });
    const replaced = compareValues(replace(control), replace(candidate), ABSOLUTE);
    // Means of 3, 302.5, 40, 7, 600, 20 and 11, and of 2, 5, 600, 9, 600, 18 and 12.
    expect(found.with_failures?.control_mean).toBeCloseTo(983.5 / 7, 10);
    expect(found.with_failures?.candidate_mean).toBeCloseTo(1246 / 7, 10);
    expect(found.with_failures).toMatchObject({
      failure_value: 600,
      mean_difference: replaced.mean_difference,
      ratio: replaced.ratio,
    });
    expect({ ...found, with_failures: null }).toEqual(compareValues(control, candidate));
  });

  test('is null without such a value, and without a run that ended', () => {
    expect(compareValues(control, candidate).with_failures).toBeNull();
    const queued = buildSide('new', [1, 2]).map((run) => ({ ...run, status: 'queued' }));
    expect(compareRuns(buildSide('prod', [1, 2]), queued, { failure_value: 9 }).with_failures).toEqual({
      failure_value: 9,
      control_mean: null,
      candidate_mean: null,
      mean_difference: null,
      ratio: null,
    });
  });

  test.each([
    ['minimize', 30, 1],
    ['minimize', 41, 0],
    ['maximize', 3, 2],
    ['none', 0, 0],
  ] as const)('that must %s, %d, is no worse than %i runs', (direction, failure_value, count) => {
    const { warnings } = compareValues(control, candidate, { direction, failure_value });
    const found = warnings.filter((text) => text.includes('no better than failure_value'));
    expect(found.map((text) => Number.parseInt(text, 10))).toEqual(count === 0 ? [] : [count]);
  });
});
