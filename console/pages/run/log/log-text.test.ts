import { LEVEL_PATTERNS } from '@switchyard/contract/runs/logs/log-levels.ts';
import { describe, expect, test } from 'vitest';
import { createTextPattern } from '../../../ui/log/find-matches.ts';
import { LogText } from './log-text.ts';

const create = (...texts: string[]): LogText => texts.reduce((log, text) => log.append(text), LogText.empty);
const listLines = (log: LogText): string[] =>
  Array.from({ length: log.lineCount }, (_, index) => log.getLine(index));
const find = (log: LogText, text: string): number[] => log.findLines(createTextPattern(text) ?? /^/g);

describe('a log', () => {
  test.each<[string[], string[]]>([
    [[], []],
    [[''], []],
    [['a\nb\n'], ['a', 'b']],
    [['a\n\nb'], ['a', '', 'b']],
    [
      ['a\n', 'b\nc\n', '\n', 'd\n'],
      ['a', 'b', 'c', '', 'd'],
    ],
    [['10 %\r20 %\n\u001b[31mred\n'], ['20 %', 'red']],
  ])('of %j has its lines', (texts, lines) => {
    expect(listLines(create(...texts))).toEqual(lines);
  });

  test('finds lines once, in any case, across its parts', () => {
    const log = create('Improved to 5, improved\nwaiting\n', 'improved to 4\n');
    expect(find(log, 'IMPROVED')).toEqual([0, 2]);
    expect(find(log, '.')).toEqual([]);
    expect(find(log, 'x'.repeat(99))).toEqual([]);
  });

  test('finds what a reader sees, not the escape sequences between', () => {
    expect(find(create('im\u001b[1mproved\n', 'improved\n'), 'improved')).toEqual([0, 1]);
    expect(find(create('im\u001b[1mproved\n'), '[1m')).toEqual([]);
  });

  test.each([
    ['warning', [1, 2, 3, 4, 6]],
    ['error', [3, 4, 6]],
  ] as const)('finds the lines of level %s', (level, indexes) => {
    const log = create(
      'INFO reading the input\n2026-05-04 WARNING: 3 stops have no window\nWarn: slow\nsolver error: infeasible\n',
      'FATAL out of memory\nforewarned is forearmed\nTraceback (most recent call last):\n',
    );
    expect(log.findLines(LEVEL_PATTERNS[level])).toEqual(indexes);
  });
});
