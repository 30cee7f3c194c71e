/** The laws of prose find violations, and accept correct text. */
import { describe, expect, test } from 'vitest';
import type { Law } from '../violation.ts';
import { nounClauses, passiveVoice, sentenceLength, WORDS_MAX, wordyPhrases } from './prose-laws.ts';

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

describe('noun clauses', () => {
  test.each([
    '// What an app printed.',
    '// Fine. Whoever holds the lease writes the end.',
    '/** Whether the host has a device. */',
    '// Where every run is made.',
    "test('what a server keeps is read again', f);",
    "const description = 'Which executable a version runs.';",
  ])('%s is found', (text) => {
    expect(find(nounClauses, text)).toEqual([1]);
  });

  test.each([
    '// The output of an app.',
    '// Is it known what an app printed?',
    '// What is a run?',
    '// Where the host allows it, each run has its own disk.',
    '// Returns whether the host has a device.',
    "const a = 'what';",
  ])('%s is allowed', (text) => {
    expect(find(nounClauses, text)).toEqual([]);
  });

  test('a heading is found', () => {
    expect(find(nounClauses, 'Fine.\n\n## What to mind\n', 'README.md')).toEqual([3]);
  });
});

describe('wordy phrases', () => {
  test.each(['// It waits in the event of an error.', '// The the server waits.', '// It shall wait.'])(
    '%s is found',
    (text) => {
      expect(find(wordyPhrases, text)).toEqual([1]);
    },
  );

  test.each([
    '// There is a request of this type.',
    '// Either `a` `b` or `c`.',
    '// Nothing comes in between.',
  ])('%s is allowed', (text) => {
    expect(find(wordyPhrases, text)).toEqual([]);
  });
});

describe('passive voice', () => {
  const passive = '// The row is written by the job.\n\n';
  const active = '// The job writes the row.\n\n';

  test('more than a quarter of passive sentences is found', () => {
    expect(find(passiveVoice, passive.repeat(3) + active.repeat(9))).toEqual([]);
    expect(find(passiveVoice, passive.repeat(4) + active.repeat(9))).toEqual([7]);
  });

  test('two passive sentences are always allowed, and a state is not an action', () => {
    expect(find(passiveVoice, passive.repeat(2))).toEqual([]);
    expect(find(passiveVoice, '// The file is gone.\n\n'.repeat(4))).toEqual([]);
  });
});
