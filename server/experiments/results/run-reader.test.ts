import { expect, test } from 'vitest';
import { RunReader } from './run-reader.ts';

const run = (indicators: Record<string, unknown>) => ({
  instance_id: 'i1',
  version_id: 'v1',
  input_id: 'in',
  option_set: null,
  scenario_id: null,
  repetition: 0,
  status: 'succeeded',
  indicators: JSON.stringify(Object.entries(indicators).map(([name, value]) => ({ name, value }))),
});
const readBy = (reader: RunReader, runs: Record<string, unknown>[]) => {
  for (const one of runs) reader.add(run(one));
  return reader.runs.map((one) => Object.fromEntries(one.indicators.map(({ name, value }) => [name, value])));
};

test('as many numbers as may be are all kept', () => {
  const runs = [
    { a: 1, 'result.value': 2 },
    { b: 'text', c: true },
  ];
  const reader = new RunReader([], 4);
  expect(readBy(reader, runs)).toEqual(runs);
  expect(reader.isTruncated).toBe(false);
});

test('of too many numbers those go that the fewest runs reported, and nothing new comes in, but what is asked for', () => {
  const reader = new RunReader(['asked'], 10);
  const found = readBy(reader, [
    { 'result.value': 1, often: 1, once: 1 },
    { 'result.value': 2, often: 2, twice: 2 },
    { 'result.value': 3, often: 3, twice: 3 },
    // The tenth and the eleventh number: half of ten may stay, and four of them have to.
    { 'result.value': 4, rare: 4 },
    { 'result.value': 5, often: 5, asked: 5, late: 5 },
  ]);
  expect(found).toEqual([
    { 'result.value': 1 },
    { 'result.value': 2 },
    { 'result.value': 3 },
    { 'result.value': 4 },
    { 'result.value': 5, asked: 5 },
  ]);
  expect(reader.isTruncated).toBe(true);
});

test('what is asked for is kept, however much it is', () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const all = Object.fromEntries(names.map((name) => [name, 1]));
  const reader = new RunReader(names, 10);
  expect(readBy(reader, [all, { ...all, other: 1 }])).toEqual([all, all]);
});

test('the most frequent stay, ties by name', () => {
  const reader = new RunReader([], 8);
  const found = readBy(reader, [
    { b: 1, a: 1, d: 1, c: 1 },
    { b: 2, a: 2 },
    { b: 3, a: 3, e: 3 },
  ]);
  // Of nine numbers four may stay: three of `a`, and `b` would be three more.
  expect(found).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
});
