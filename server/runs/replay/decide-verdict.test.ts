import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import { decideVerdict } from './decide-verdict.ts';

const run = (value: number | string | null, changes: object = {}) => ({
  id: 'run-1' as RunId,
  status: 'succeeded' as const,
  error: '',
  indicators: JSON.stringify(value === null ? [] : [{ name: 'result.value', value }]),
  ...changes,
});
const differ = (inSolution: number | null, total = inSolution ?? 0) => ({
  hasEqualBytes: false,
  differences: { inSolution, total, listed: [] },
});
const EQUAL = { hasEqualBytes: true, differences: null };
const UNREADABLE = { hasEqualBytes: false, differences: null };

describe('two runs that succeeded', () => {
  test.for([
    { title: 'equal bytes', a: 1, b: 1, outputs: EQUAL, verdict: 'bytes_equal' },
    { title: 'other statistics', a: 1, b: 2, outputs: differ(0, 1), verdict: 'same_solution' },
    { title: 'another order of keys', a: 1, b: 1, outputs: differ(0), verdict: 'same_solution' },
    { title: 'another solution of equal value', a: 5, b: 5, outputs: differ(3), verdict: 'same_objective' },
    { title: 'both values 0', a: 0, b: 0, outputs: differ(3), verdict: 'same_objective' },
    { title: 'values 5e-10 apart', a: 1, b: 1 + 5e-10, outputs: differ(1), verdict: 'same_objective' },
    { title: 'values 2e-9 apart', a: 1, b: 1 + 2e-9, outputs: differ(1), verdict: 'different' },
    {
      title: 'large values 1e-9 apart',
      a: -1e12,
      b: -1e12 - 999,
      outputs: differ(1),
      verdict: 'same_objective',
    },
    { title: 'values on both sides of 0', a: 1e-12, b: -1e-12, outputs: differ(1), verdict: 'different' },
    { title: 'no solution, values apart', a: 1, b: 2, outputs: differ(null, 1), verdict: 'different' },
    { title: 'no solution, equal values', a: 1, b: 1, outputs: differ(null, 1), verdict: 'same_objective' },
    { title: 'no solution, another order', a: 1, b: 1, outputs: differ(null), verdict: 'same_solution' },
    { title: 'no value in the replay', a: 1, b: null, outputs: differ(1), verdict: 'different' },
    { title: 'no value at all', a: null, b: null, outputs: differ(1), verdict: 'different' },
    { title: 'values in text', a: 'x', b: 'x', outputs: differ(1), verdict: 'different' },
    { title: 'text of equal value', a: 7, b: 7, outputs: UNREADABLE, verdict: 'same_objective' },
  ] as const)('$title: $verdict', ({ a, b, outputs, verdict }) => {
    const decision = decideVerdict(run(a), run(b), outputs);
    expect(decision).toMatchObject({
      verdict,
      solution_compared: outputs !== UNREADABLE,
      number_of_differences: outputs.differences?.total ?? 0,
    });
  });

  test('the reason names both values', () => {
    expect(decideVerdict(run(10), run(11), differ(2)).reason).toBe(
      'The solutions differ, and result.value is 10 in the original and 11 in the replay.',
    );
  });
});

test('a replay that fails where the original succeeded is different', () => {
  const failed = run(null, { status: 'failed', error: 'exit code 4' });
  expect(decideVerdict(run(1), failed, UNREADABLE)).toMatchObject({
    verdict: 'different',
    reason: 'The original succeeded; the replay failed.',
    original_status: 'succeeded',
    replay_status: 'failed',
    original_value: 1,
    replay_value: null,
  });
});

test('two failures are the same with the same error alone', () => {
  const fail = (error: string) => run(null, { status: 'failed', error });
  const decide = (a: string, b: string) => decideVerdict(fail(a), fail(b), EQUAL).verdict;
  expect(decide('exit code 4', 'exit code 4')).toBe('same_failure');
  expect(decide('exit code 4', 'exit code 5')).toBe('different');
});

test('two canceled runs are not compared', () => {
  const canceled = run(null, { status: 'canceled' });
  expect(decideVerdict(canceled, canceled, EQUAL).verdict).toBe('different');
});
