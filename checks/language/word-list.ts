/** The law of words: names, comments, messages and pages use the standard term. */
import { posix } from 'node:path';
import { isCode, type Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';
import {
  CALQUES,
  FORBIDDEN_NAME_WORDS,
  FORBIDDEN_NAMES,
  FORBIDDEN_PHRASES,
  type ForbiddenWord,
} from './forbidden-words.ts';
import { collectTexts, splitWords, type TextPlace } from './text-places.ts';

/** These quote the forbidden words to forbid them. */
const QUOTING = new Set([
  'checks/language/forbidden-words.ts',
  'checks/language/word-list.test.ts',
  'checks/language/prose.test.ts',
]);

/** Names in snake case are columns of the database or fields of the API. */
const WIRE_NAME = /^[a-z\d]+(_[a-z\d]+)+$/;

const OTHER_CODE = /\.(mjs|cjs|js|py|go|rs|java|c|h|sh|css|html|yaml|yml|toml)$/;

function findInName(name: string): ForbiddenWord | undefined {
  if (WIRE_NAME.test(name)) return undefined;
  const words = splitWords(name);
  return (
    FORBIDDEN_NAMES.find((word) => word.pattern.test(name)) ??
    FORBIDDEN_NAME_WORDS.find((word) => words.some((part) => word.pattern.test(part)))
  );
}

function findInIdentifiers(source: Source): Violation[] {
  return collectTexts(source).identifiers.flatMap(({ text, line }) => {
    const word = findInName(text);
    return word ? [{ path: source.path, line, message: `is named ${text}: use ${word.instead}.` }] : [];
  });
}

/** A phrase may continue on the next line. */
const PHRASES = [...FORBIDDEN_PHRASES, ...CALQUES].map((word) => {
  const phrasePattern = word.pattern.source.replaceAll(' ', '\\s+');
  return { word, everywhere: new RegExp(phrasePattern, 'gi') };
});

/** Stands between texts. It is in no phrase. */
const SEPARATOR = '\n\0\n';

/** Returns the phrases that some text has. One search of all texts is four times as fast as a search of each. */
function listUsedPhrases(places: readonly TextPlace[]): typeof PHRASES {
  const texts = places.map(({ text }) => text).join(SEPARATOR);
  return PHRASES.filter(({ everywhere }) => texts.search(everywhere) >= 0);
}

function findInTexts(places: readonly TextPlace[], path: string): Violation[] {
  const used = listUsedPhrases(places);
  return places.flatMap(({ text, line }) =>
    used.flatMap(({ word, everywhere }) =>
      [...text.matchAll(everywhere)].map((match) => ({
        path,
        line: line + text.slice(0, match.index).split('\n').length - 1,
        message: `says "${match[0].replace(/\s+/g, ' ')}": use ${word.instead}.`,
      })),
    ),
  );
}

/** Returns the lines of a page without its fenced code and inline code. */
function readProseLines(markdown: string): TextPlace[] {
  let isFenced = false;
  return markdown.split('\n').flatMap((line, index) => {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced || /^\s*(```|~~~)/.test(line)) return [];
    return [{ text: line.replace(/`[^`]*`/g, '`code`').replace(/\]\([^)]*\)/g, ']'), line: index + 1 }];
  });
}

function readTexts(source: Source): readonly TextPlace[] {
  if (isCode(source)) {
    const { comments, strings } = collectTexts(source);
    return [...comments, ...strings];
  }
  if (source.path.endsWith('.md')) return readProseLines(source.text);
  if (OTHER_CODE.test(source.path))
    return source.text.split('\n').map((text, index) => ({ text, line: index + 1 }));
  return [];
}

function findInPath({ path }: Source): Violation[] {
  const names = posix.dirname(path) === '.' ? [posix.basename(path)] : path.split('/').slice(-2);
  return names.flatMap((name) => {
    const word = findInName(name.replace(/\..*$/, ''));
    return word ? [{ path, line: 1, message: `is filed under ${name}: use ${word.instead}.` }] : [];
  });
}

/** Names, comments, messages and pages use no word of the list. */
export const wordList: Law = {
  name: 'word-list',
  findViolations: (sources) =>
    sources
      .filter(({ path }) => !QUOTING.has(path))
      .flatMap((source) => [
        ...findInPath(source),
        ...findInIdentifiers(source),
        ...findInTexts(readTexts(source), source.path),
      ]),
};
