/** The law of words finds forbidden words, and accepts correct names and texts. */
import { describe, expect, test } from 'vitest';
import { splitWords } from './text-places.ts';
import { wordList } from './word-list.ts';

function find(text: string, path = 'server/runs/a.ts'): string[] {
  return wordList.findViolations([{ path, text }]).map(({ line, message }) => `${line}: ${message}`);
}

describe('identifiers', () => {
  test.each([
    'const born = 1;',
    'function bear() {}',
    'class Obituary {}',
    'type Birth = string;',
    'const UPLOADS_AT_ONCE = 8;',
    'const inTurn = 1;',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    'const bearer = 1;',
    'const { born } = library;',
    'library.born();',
    'interface Row { born_locally: boolean }',
    'const asked = giveBack(room, verdict);',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test.each([
    ['AT_ONCE', ['at', 'once']],
    ['isSQLReadOnly', ['is', 'sql', 'read', 'only']],
    ['#giveBack2', ['give', 'back2']],
    ['in-turn', ['in', 'turn']],
  ])('%s is split into words', (name, words) => {
    expect(splitWords(name)).toEqual(words);
  });
});

describe('files', () => {
  test.each([
    'server/runs/births.ts',
    'server/obituary/a.ts',
    'site/content/setbacks.md',
    'chaos/torture.test.ts',
  ])('%s is found', (path) => {
    expect(find('', path)).toEqual([expect.stringMatching(/^1: is filed under /)]);
  });

  test.each(['server/platform/http/bearer-token.ts', 'site/content/left.md', 'server/runs/store.ts'])(
    '%s is allowed',
    (path) => {
      expect(find('', path)).toEqual([]);
    },
  );
});

describe('texts', () => {
  test.each([
    ['a comment', '// A worker is taken for dead.'],
    ['a comment of a name', '/** Where every run is born. */'],
    ['a message', "throw new Error('A member has an own role.');"],
    ['a template', 'log.info(`The webhook is told, run $' + '{id}`);'],
    ['a test title', "test('the end is told', f);"],
    ['two words over two lines', '/** What the server was\n * told before. */'],
    ['the end of a sentence', '// It prints ids alone. Then it ends.'],
    ['a quantity', '// With so many of them, both cost the same.'],
  ])('%s is found', (_, text) => {
    expect(find(text)).toHaveLength(1);
  });

  test('a violation has the line of its word', () => {
    expect(find('const a = 1;\n/**\n * Fine.\n * A run is born.\n */')).toEqual([
      '4: says "born": use created, start.',
    ]);
  });

  test.each([
    '// The worker that holds the lease.',
    "const a = 'told';",
    '// Whoever asks gets an answer, and a leased run alone counts.',
    '// Choose the experiment that answers your question.',
    '// The server responds with 404.',
    '// A bearer token is required.',
    '// An interval lies between 0 and 1.',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test('pages are read without their code', () => {
    const page = 'Fine.\n\nA `born` run.\n\n```js\nborn();\n```\n\nA run is born.\n';
    expect(find(page, 'site/content/a.md')).toEqual(['9: says "born": use created, start.']);
  });

  test('other languages are read line by line', () => {
    expect(find('import a\n# A run is born\n', 'sample-apps/a/main.py')).toEqual([
      expect.stringMatching(/^2: says "born"/),
    ]);
  });
});
