/** Laws about sentences: short, and without repeated words. */
import type { Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';
import { type ProseSentence, readProse } from './read-prose.ts';

export const WORDS_MAX = 30;

/** These quote what they forbid. */
const QUOTING = /^checks\/language\//;

function quoteStart(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function defineSentenceLaw(name: string, check: (sentence: ProseSentence) => string | undefined): Law {
  const inSource = (source: Source): Violation[] =>
    readProse(source).sentences.flatMap((sentence) => {
      const wrong = check(sentence);
      if (wrong === undefined) return [];
      const message = `says "${quoteStart(sentence.text)}": ${wrong}`;
      return [{ path: source.path, line: sentence.line, message }];
    });
  return {
    name,
    findViolations: (sources) => sources.filter(({ path }) => !QUOTING.test(path)).flatMap(inSource),
  };
}

/** A sentence has at most 30 words; code counts as one. */
export const sentenceLength = defineSentenceLaw('sentence-length', ({ words }) =>
  words > WORDS_MAX ? `${words} words; at most ${WORDS_MAX} are allowed: make two sentences.` : undefined,
);

/** No text repeats a word. */
export const repeatedWords: Law = {
  name: 'repeated-words',
  findViolations: (sources) =>
    sources
      .filter(({ path }) => !QUOTING.test(path))
      .flatMap((source) =>
        readProse(source).repeated.map(({ line, reason }) => ({
          path: source.path,
          line,
          message: `${reason}.`,
        })),
      ),
};
