/** Sentences and hints of a comparison say what the runs show. */
import { describe, expect, test } from 'vitest';
import {
  buildDesign,
  buildRun,
  buildSide,
  compareRuns,
  compareValues,
  INDICATOR,
  type Value,
} from '../../../testing/fixtures/paired-runs.ts';
import { compareFamily } from './family.ts';

const twelve = Array.from({ length: 12 }, (_, index) => 100 + index);
const better = twelve.map((value, index) => value * (0.95 + 0.001 * (index % 3)));

test('a verdict on ratios warns of a total that changes the other way', () => {
  const giant = 1e9;
  const found = compareValues([...twelve, giant], [...better, 1.01 * giant]);
  expect(found.verdict).toBe('better');
  // The total of 12 small inputs is below 0.000002 of the giant, which is 1 % higher.
  expect(found.warnings).toContain(
    'The candidate is lower on the typical input, but its total over all inputs is 1\u00a0% higher: a few large inputs outweigh the others.',
  );
  expect(compareValues(twelve, better).warnings).toEqual([]);
});

test('an objective that asks for ratios of negative values is compared by differences, with a warning', () => {
  const values = twelve.map((_, index) => (index % 3) - 1);
  const found = compareValues(
    values,
    values.map((value) => value + 1),
    { measure: 'relative' },
  );
  expect(found.measure).toBe('absolute');
  expect(found.warnings).toContain(
    'The objective asks for ratios, but not every value is above 0: the comparison is by differences.',
  );
});

test('no difference rests on the others where all inputs tie', () => {
  expect(compareValues(twelve, twelve).warnings).toEqual(['All 12 inputs tie.']);
});

test('an input whose runs of one side were deleted is not compared by means', () => {
  const found = compareRuns(buildSide('prod', twelve), buildSide('new', better).slice(1));
  expect(found.verdict).toBe('undecided');
  expect(found.reasons[0]).toContain('1 of 12 inputs has no outcome because runs were canceled or deleted');
  expect(found.warnings).toEqual([]);
});

test.each([
  // Half of the repetitions are an input lost, and less than half count as failed runs.
  [2, { verdict: 'worse', failures: { candidate_only: 12 } }],
  [4, { verdict: 'undecided', failures: { candidate_only: 0, candidate_failed: 12, control_failed: 0 } }],
])('where the sides ran different repetitions, one failure of %i on each input counts', (count, expected) => {
  const control = buildSide(
    'prod',
    twelve.map((value) => [value, value, value]),
  );
  const candidate = buildSide(
    'new',
    better.map((value) => Array.from({ length: count }, () => value)),
  ).map((run) => (run.repetition === 0 ? { ...run, status: 'failed', indicators: [] } : run));
  expect(compareRuns(control, candidate)).toMatchObject(expected);
});

test('T12: a candidate that is worse where both succeed is not better by the failures of the control', () => {
  const sizes = Array.from({ length: 24 }, (_, index) => 100 + index);
  // The control fails on 14 of 24 inputs, and the candidate is 48 % worse on the other ten.
  const control = sizes.map((value, index) => (index < 14 ? undefined : value));
  const candidate = sizes.map((value, index) => value * (1.48 + 0.001 * (index % 3)));
  const found = compareValues(control, candidate);
  expect(found.verdict).toBe('undecided');
  expect(found.reasons[0]).toBe(
    'The failures of the two sides and the values of the others point in opposite directions.',
  );
});

test('a single canceled run is left out in the singular', () => {
  const [first, ...rest] = buildSide('new', better);
  const candidate = first ? [{ ...first, status: 'canceled' }, ...rest] : rest;
  expect(compareRuns(buildSide('prod', twelve), candidate).warnings).toEqual([
    '1 run of the candidate (instance "new", version "v1") was canceled and is left out.',
  ]);
});

test.each<[string, Value[]]>([
  ['failures', better.map((value, index) => (index < 3 ? undefined : value))],
  // Its values are better by less than their noise shows.
  [
    'failures of the side with the better values',
    twelve.map((value, index) => (index < 2 ? undefined : value * (index % 2 ? 1.2 : 0.75))),
  ],
  ['a spread of 0', twelve.map((value, index) => (index < 3 ? undefined : 0.95 * value))],
])('more inputs are unknown where %s withhold the verdict', (_, values) => {
  expect(compareValues(twelve, values)).toMatchObject({
    verdict: 'undecided',
    more_inputs: null,
    more_inputs_range: null,
  });
});

test('inputs that a verdict lacks are counted', () => {
  expect(compareValues(twelve.slice(0, 6), better.slice(0, 6))).toMatchObject({
    more_inputs: 4,
    more_inputs_range: { low: 4, high: 4 },
  });
});

test('more originals are needed where neighbours resemble each other', () => {
  // Three slow waves: the correlation of neighbours is high, and 36 originals say as much as a few.
  const effects = Array.from({ length: 36 }, (_, index) => 0.97 + 0.02 * Math.sin(index / 2));
  const control = effects.map((_, index) => buildRun('prod', index, 100));
  const candidate = effects.map((effect, index) => buildRun('new', index, 100 * effect));
  const compare = (serial: boolean) =>
    compareFamily([{ control, candidate }], [INDICATOR], { ...buildDesign(1999), unit: 'original', serial });
  const [[dependent] = []] = compare(true);
  const [[independent] = []] = compare(false);
  expect(independent).toMatchObject({ verdict: 'better', more_inputs: null });
  const effective = dependent?.dependence.effective_sample_size ?? 0;
  expect(effective).toBeLessThan(10);
  // Ten effective originals are the least that a verdict needs.
  expect(dependent?.more_inputs).toBeGreaterThanOrEqual(Math.floor((10 * 36) / effective) - 36);
  expect(dependent?.detectable_difference).toBeNull();
});

describe('D5: an effect that changes slowly in a long series', () => {
  /** Compares 120 originals: a wave of one period about `centre`, beneath noise that repeats every 7 originals. */
  const compareWave = (centre: number, serial = true) => {
    const indices = Array.from({ length: 120 }, (_, index) => index);
    const findEffect = (index: number) =>
      centre + 0.02 * Math.sin((2 * Math.PI * index) / 120) + 0.03 * (((index * 3) % 7) - 3);
    const control = indices.map((index) => buildRun('prod', index, 100));
    const candidate = indices.map((index) => buildRun('new', index, 100 * Math.exp(findEffect(index))));
    const design = { ...buildDesign(399), unit: 'original', serial } as const;
    const [[comparison] = []] = compareFamily([{ control, candidate }], [INDICATOR], design);
    return comparison;
  };

  test('has no verdict when its mean is below three standard deviations of the change', () => {
    const found = compareWave(0.035);
    // The wave has a standard deviation of 0.02 / sqrt(2); blocks of six originals leave nearly all of it.
    expect(found?.dependence.slow_change?.deviation).toBeCloseTo(Math.expm1(0.02 / Math.SQRT2), 2);
    expect(found?.dependence.slow_change?.p_value).toBeLessThan(0.05);
    expect(found?.verdict).toBe('undecided');
    expect(found?.reasons[0]).toMatch(
      /^The effect changes slowly during the test, .* of 1\.\d\u00a0%: at another/,
    );
    expect(found?.warnings.join(' ')).toContain('The effect changes slowly during the test');
  });

  test('has a warning alone when its mean is far larger than the change', () => {
    const found = compareWave(0.2);
    expect(found?.reasons.join(' ')).not.toContain('The effect changes slowly');
    expect(found?.warnings.join(' ')).toContain('The effect changes slowly during the test');
  });

  test('is not looked for where the inputs have no order in time', () => {
    expect(compareWave(0.035, false)).toMatchObject({ verdict: 'worse', dependence: { slow_change: null } });
  });
});

test('a margin for failures that is not met is named', () => {
  const values = twelve.map((value, index) => (index === 0 ? undefined : 0.95 * value));
  const { verdict, reasons } = compareValues(twelve, values, { failure_margin: 0.1 });
  expect(verdict).toBe('undecided');
  expect(reasons.at(-1)).toContain('above the margin for failures, 10\u00a0%.');
});
