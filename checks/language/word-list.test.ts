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
    'function f(told: string) {}',
    'const f = ({ status: asked }: Run) => asked;',
    'class Obituary {}',
    'class A { #giveBack() {} }',
    'interface A { hasRoom: boolean }',
    'type Birth = string;',
    'const UPLOADS_AT_ONCE = 8;',
    'function archiveOf() {}',
    'try { f(); } catch (trouble) { g(trouble); }',
    'const secondsLeft = 3;',
    'const inTurn = 1;',
    'for (const finding of all) f(finding);',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    'const bearer = 1;',
    'const { told } = library;',
    'library.told();',
    'const actual = action;',
    'const index = text.indexOf(one);',
    'const schema = { anyOf: [], oneOf: [], allOf: [] };',
    'class A { valueOf() { return 1; } }',
    'const left = tree.left;',
    'const marginLeft = 1;',
    'interface Row { given_locally: boolean }',
    'const transaction = askedElsewhere.value;',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test('a verdict is a term of experiments and replays alone', () => {
    expect(find('type Verdict = string;', 'server/experiments/statistics/a.ts')).toEqual([]);
    expect(find('type Verdict = string;', 'server/runs/replay/a.ts')).toEqual([]);
    expect(find('type Verdict = string;', 'runner/launcher/a.ts')).toHaveLength(1);
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

  test.each(['server/http/bearer-token.ts', 'site/content/left.md', 'server/runs/store.ts'])(
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
    ['a message', "throw new Error('Whoever holds it has to let it go.');"],
    ['a template', 'log.info(`The webhook is told, run $' + '{id}`);'],
    ['a test title', "test('the end is told', f);"],
    ['two words over two lines', '/** What the server was\n * told before. */'],
    ['a status', '// It answers with 404.'],
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
    expect(find('import a\n# Whoever calls this\n', 'sample-apps/a/main.py')).toEqual([
      expect.stringMatching(/^2: says "Whoever"/),
    ]);
  });
});
