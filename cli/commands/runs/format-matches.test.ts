import { expect, test } from 'vitest';
import { formatMatches } from './format-matches.ts';

const style = (_tone: string, text: string) => text;
const rows = Array.from({ length: 200_000 }, (_, index) => ({
  ...{ line: index + 1, timestamp: '', level: 'info' as const, log: `line ${index}`, truncated: false },
}));

test('a search that matches 200,000 lines has numbers of one width', () => {
  const text = formatMatches(rows, style);
  expect(text).toMatch(/^ {5}1 {2}line 0\n/);
  expect(text).toMatch(/\n200000 {2}line 199999\n$/);
});
