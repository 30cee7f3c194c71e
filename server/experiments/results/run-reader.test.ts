/** The limit of the reader on indicators in memory. */
import { expect, test } from 'vitest';
import { RunReader } from './run-reader.ts';

const createRun = (indicators: Record<string, unknown>) => ({
  instance_id: 'i1',
  version_id: 'v1',
  input_id: 'in',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status: 'succeeded',
  indicators: JSON.stringify(Object.entries(indicators).map(([name, value]) => ({ name, value }))),
});
const readRuns = (reader: RunReader, runs: Record<string, unknown>[]) => {
  for (const run of runs) reader.add(createRun(run));
  return reader.runs.map(({ indicators }) =>
    Object.fromEntries(indicators.map(({ name, value }) => [name, value])),
  );
};

test('keeps all values up to the limit', () => {
  const runs = [
    { a: 1, 'result.value': 2 },
    { b: 'text', c: true },
  ];
  const reader = new RunReader([], 4);
  expect(readRuns(reader, runs)).toEqual(runs);
  expect(reader.isTruncated).toBe(false);
});

test('above the limit drops the indicators of the fewest runs, and adds only requested ones', () => {
  const reader = new RunReader(['requested'], 10);
  const indicators = readRuns(reader, [
    { 'result.value': 1, often: 1, once: 1 },
    { 'result.value': 2, often: 2, twice: 2 },
    { 'result.value': 3, often: 3, twice: 3 },
    // The eleventh value exceeds the limit. The reader keeps at most five, and four of them are results.
    { 'result.value': 4, rare: 4 },
    { 'result.value': 5, often: 5, requested: 5, late: 5 },
  ]);
  expect(indicators).toEqual([
    { 'result.value': 1 },
    { 'result.value': 2 },
    { 'result.value': 3 },
    { 'result.value': 4 },
    { 'result.value': 5, requested: 5 },
  ]);
  expect(reader.isTruncated).toBe(true);
});

test('keeps requested indicators above the limit', () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const all = Object.fromEntries(names.map((name) => [name, 1]));
  const reader = new RunReader(names, 10);
  expect(readRuns(reader, [all, { ...all, other: 1 }])).toEqual([all, all]);
});

test('keeps the most frequent indicators, ties in the order of names', () => {
  const reader = new RunReader([], 8);
  const indicators = readRuns(reader, [
    { b: 1, a: 1, d: 1, c: 1 },
    { b: 2, a: 2 },
    { b: 3, a: 3, e: 3 },
  ]);
  // The reader keeps at most four of nine values: three of `a`; `b` would add three more.
  expect(indicators).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
});
