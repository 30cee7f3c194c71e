/** Encoded times of lines: exact for usual logs, small for all. */
import { expect, test } from 'vitest';

import { decodeTimeSteps, LineTimes, LineTimesEncoder } from './line-times.ts';

const START = Date.parse('2026-11-20T08:00:00Z');

function encode(times: Iterable<number>): Buffer {
  const encoder = new LineTimesEncoder();
  for (const at of times) encoder.add(at);
  return encoder.toBytes() ?? Buffer.alloc(0);
}

test('no line has no bytes', () => {
  expect(new LineTimesEncoder().toBytes()).toBeNull();
});

test('times are exact, and lines of one millisecond share a step', () => {
  const times = [START, START, START + 1, START + 128, START + 90_000_000];
  const bytes = encode(times);
  expect([...decodeTimeSteps(bytes)]).toEqual([
    [START, 2],
    [1, 1],
    [127, 1],
    [89_999_872, 1],
  ]);
  const found = new LineTimes(bytes);
  expect([1, 2, 3, 4, 5, 6].map((line) => found.find(line))).toEqual([...times, undefined]);
});

test('a clock that goes back does not make a negative step', () => {
  const found = new LineTimes(encode([START + 5, START + 6, START + 1, START + 9]));
  expect([1, 2, 3, 4].map((line) => found.find(line))).toEqual([START + 5, START + 6, START + 6, START + 9]);
});

test('a million lines at any pace have at most two bytes a line, and every line is counted', () => {
  for (const gap of [0.01, 1, 500]) {
    const bytes = encode(
      (function* () {
        for (let line = 0; line < 1_000_000; line += 1) yield START + Math.floor(line * gap);
      })(),
    );
    expect(bytes.length).toBeLessThan(2_000_000);
    let lines = 0;
    for (const [, count] of decodeTimeSteps(bytes)) lines += count;
    expect(lines).toBe(1_000_000);
  }
});
