/** Lines that match: every one once, with its number, level and text. */
import { describe, expect, test } from 'vitest';
import { LineMatcher, type LogQuery } from './line-matcher.ts';

const LOG = ['start', '', 'WARNING: Slow', 'warnings off', 'error 5: Slow', '', 'done'].join('\n');

const find = (query: LogQuery, log = LOG): number[] =>
  [...new LineMatcher(query).findLines(log)].map(({ index }) => index);

describe('the lines of a search', () => {
  test.each<[LogQuery, number[]]>([
    [{}, [0, 1, 2, 3, 4, 5, 6]],
    [{ text: 'slow' }, [2, 4]],
    [{ text: 'S' }, [0, 2, 3, 4]],
    [{ text: '.*' }, []],
    [{ text: 'done' }, [6]],
    [{ level: 'warning' }, [2, 4]],
    [{ level: 'error' }, [4]],
    [{ text: 'slow', level: 'error' }, [4]],
    [{ text: 'done', level: 'error' }, []],
  ])('%j', (query, expected) => {
    expect(find(query)).toEqual(expected);
  });

  test('are found at the same numbers beside letters whose lower case is longer', () => {
    expect(find({ text: 'slow' }, `İ\n${LOG}\nİ slow`)).toEqual([3, 5, 8]);
  });

  test('have their level and their text without line breaks', () => {
    expect([...new LineMatcher({ text: 'slow' }).findLines('fatal: slow\r\nslow')]).toEqual([
      { index: 0, level: 'error', log: 'fatal: slow', truncated: false },
      { index: 1, level: 'info', log: 'slow', truncated: false },
    ]);
  });

  test('are parts around the match when they are long', () => {
    const [match] = new LineMatcher({ text: 'needle' }).findLines(
      `${'a'.repeat(5_000)}needle${'b'.repeat(5_000)}`,
    );
    expect(match?.truncated).toBe(true);
    expect(match?.log).toHaveLength(1_000);
    expect(match?.log).toContain('aneedleb');
  });
});
