/** The laws of prose find violations, and accept correct text. */
import { describe, expect, test } from 'vitest';
import type { Law } from '../violation.ts';
import { repeatedWords, sentenceLength, WORDS_MAX } from './prose-laws.ts';

function find(law: Law, text: string, path = 'server/a.ts') {
  return law.findViolations([{ path, text }]).map(({ line }) => line);
}

const words = (count: number) => `${Array.from({ length: count }, () => 'run').join(' ')}.`;

describe('sentence length', () => {
  test('31 words are found, 30 are allowed', () => {
    expect(find(sentenceLength, `// ${words(WORDS_MAX + 1)}`)).toEqual([1]);
    expect(find(sentenceLength, `// ${words(WORDS_MAX)}`)).toEqual([]);
  });

  test('a violation has the line of its sentence', () => {
    const text = `const a = 1;\n/**\n * Fine.\n *\n * Fine. ${words(WORDS_MAX + 1)}\n */`;
    expect(find(sentenceLength, text)).toEqual([5]);
  });

  test('adjacent line comments are one text', () => {
    const half = words(20).replace('.', '');
    expect(find(sentenceLength, `// ${half}\n// ${half}.`)).toEqual([1]);
    expect(find(sentenceLength, `// ${half}\n\n// ${half}.`)).toEqual([]);
  });

  test.each([
    ['a paragraph over two lines', `${words(20).replace('.', '')}\n${words(20)}`, [1]],
    ['an item of a list', `Fine:\n\n- ${words(31)}`, [3]],
    ['items of a list', `- ${words(20)}\n- ${words(20)}`, []],
    ['cells of a table', `| a | b |\n|---|---|\n| ${words(20)} | ${words(20)} |`, []],
    ['a fenced block', `\`\`\`\n${words(40)}\n\`\`\``, []],
    ['inline code', `Fine \`${words(40)}\` here.`, []],
    ['a tag of the site', `{% callout text="${words(40)}" %}`, []],
  ])('%s of a page', (_, text, lines) => {
    expect(find(sentenceLength, text, 'site/content/a.md')).toEqual(lines);
  });

  test('a message is a sentence, a query is not', () => {
    const message = `Starts with ${words(WORDS_MAX)}`;
    expect(find(sentenceLength, `const a = '${message}';`)).toEqual([1]);
    expect(find(sentenceLength, `const a = 'select ${words(40)}';`)).toEqual([]);
  });
});

describe('repeated words', () => {
  test('a repeated word is found', () => {
    expect(find(repeatedWords, '// The the server waits.')).toEqual([1]);
  });

  test.each(['// Either `a` `b` or `c`.', '// It shall wait in the event of an error, or be told.'])(
    '%s is allowed',
    (text) => {
      expect(find(repeatedWords, text)).toEqual([]);
    },
  );
});
