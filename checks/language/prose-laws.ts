/** Laws about sentences: short, with a named subject, mostly active, and without wordy phrases. */
import type { Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';
import { type ProseSentence, readProse } from './read-prose.ts';

export const WORDS_MAX = 30;
/** Reference texts describe effects on a run, so some sentences are passive. Many of them hide the actor. */
const PASSIVE_SHARE_MAX = 0.25;
const PASSIVE_ALWAYS_ALLOWED = 2;

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

const NOUN_CLAUSE = /^(What|Who|Whom|Whose|Whoever|Whatever|Whether|Which|Whichever)\b/i;
/** "Where every run is made" names a place; "Where the host allows it, …" is a condition. */
const WHERE_CLAUSE = /^Where\b[^,]*$/;

/** No sentence, heading or title begins with a clause in place of a subject. Questions are exempt. */
export const nounClauses = defineSentenceLaw('noun-clauses', ({ text }) => {
  if (text.endsWith('?') || !(NOUN_CLAUSE.test(text) || WHERE_CLAUSE.test(text))) return undefined;
  return 'begins with a clause: name the subject.';
});

/** No text has a wordy phrase of retext's list, or a repeated word. */
export const wordyPhrases: Law = {
  name: 'wordy-phrases',
  findViolations: (sources) =>
    sources
      .filter(({ path }) => !QUOTING.test(path))
      .flatMap((source) =>
        readProse(source).wordy.map(({ line, reason }) => ({
          path: source.path,
          line,
          message: `is wordy: ${reason}.`,
        })),
      ),
};

function findPassiveSentences(source: Source): Violation[] {
  const { sentences } = readProse(source);
  const passive = sentences.filter(({ isPassive }) => isPassive);
  const allowed = Math.max(PASSIVE_ALWAYS_ALLOWED, Math.floor(sentences.length * PASSIVE_SHARE_MAX));
  return passive.slice(allowed).map(({ text, line }) => ({
    path: source.path,
    line,
    message: `says "${quoteStart(text)}": ${passive.length} of ${sentences.length} sentences are passive, at most ${allowed} may be: name who acts.`,
  }));
}

/** At most a quarter of the sentences of a file are passive. */
export const passiveVoice: Law = {
  name: 'passive-voice',
  findViolations: (sources) =>
    sources.filter(({ path }) => !QUOTING.test(path)).flatMap(findPassiveSentences),
};
