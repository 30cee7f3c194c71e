/** Laws about every source: types are not talked away, nothing is left for later, files stay readable, no private paths. */
import { homedir } from 'node:os';
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, ROOT, type Source } from './source-files.ts';
import { formatLocation, lineNumberAt, parseSource } from './syntax.ts';

export const LINES_MAX = 400;

export function findAnyTypes(source: Source): string[] {
  const found: string[] = [];
  new Visitor({
    TSAnyKeyword(node) {
      found.push(
        `${formatLocation(source, node)} says any: name the type, or take unknown and look before using it.`,
      );
    },
  }).visit(parseSource(source).program);
  return found;
}

export function findSilencedErrors(source: Source): string[] {
  return parseSource(source).comments.flatMap((comment) => {
    const silencer = /@ts-(ignore|expect-error|nocheck)/.exec(comment.value)?.[0];
    return silencer
      ? [`${formatLocation(source, comment)} has ${silencer}: correct what the type checker found.`]
      : [];
  });
}

const LEFT_FOR_LATER = /\b(TODO|FIXME|XXX)\b/;

/** In code only comments count, so that a text may speak of such a mark; in other files every line does. */
export function findUnfinishedMarks(source: Source): string[] {
  const places = isCode(source)
    ? parseSource(source).comments.map(({ value, start }) => ({
        text: value,
        line: lineNumberAt(source, start),
      }))
    : source.text.split('\n').map((text, index) => ({ text, line: index + 1 }));
  return places.flatMap(({ text, line }) => {
    const mark = LEFT_FOR_LATER.exec(text)?.[0];
    return mark
      ? [`${source.path}:${line} has a ${mark}: do it now, or write down in decisions/ why not.`]
      : [];
  });
}

export function findLongFiles(source: Source): string[] {
  const lines = source.text.replace(/\n$/, '').split('\n').length;
  if (lines <= LINES_MAX) return [];
  return [`${source.path} has ${lines} lines; a file has at most ${LINES_MAX}: cut it where one idea ends.`];
}

/** Names of values that are patterns, not texts to be found. */
const IS_PATTERN = /^[A-Z][A-Z\d_]*$|[pP]attern$/;
const ESCAPES = /\b(escapeRegExp|RegExp\.escape)\b/;

/** A text that becomes a part of a regular expression unescaped finds something else, or throws for what a caller sent. */
export function findUnescapedPatterns(source: Source): string[] {
  const { program } = parseSource(source);
  const found: string[] = [];
  const isSafe = (node: ESTree.Node): boolean => {
    const text = source.text.slice(node.start, node.end);
    if (node.type === 'Literal' || ESCAPES.test(text)) return true;
    if (node.type === 'TemplateLiteral') return node.expressions.every(isSafe);
    return node.type === 'Identifier' && IS_PATTERN.test(text);
  };
  const look = ({ callee, arguments: given, ...node }: ESTree.NewExpression | ESTree.CallExpression) => {
    const [pattern] = given;
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp' || !pattern || isSafe(pattern)) return;
    found.push(`${formatLocation(source, node)} builds a pattern from text: escape it with escapeRegExp.`);
  };
  new Visitor({ NewExpression: look, CallExpression: look }).visit(program);
  return found;
}

/**
 * A home or work folder of anyone, or where this repository or its user happens to live. `places` are folders of this machine; one
 * straight under `/` is too common a word to look for.
 */
export function findPrivatePaths(source: Source, places: readonly string[] = [ROOT, homedir()]): string[] {
  const named = places
    .filter((place) => /^\/[^/]+\/./.test(place))
    .map((place) => `${RegExp.escape(place)}(?![\\w-])`);
  const homes = ['/(?:home|Users)/[\\w.-]+/', '/(?:root|work)/[\\w.]+'];
  const placePattern = [...named, ...homes].join('|');
  const pattern = new RegExp(`(?<![\\w.:/>})*-])(${placePattern})`);
  return source.text.split('\n').flatMap((text, index) => {
    const path = pattern.exec(text)?.[1];
    return path
      ? [
          `${source.path}:${index + 1} names ${path}, a place on one machine: make it relative or configurable.`,
        ]
      : [];
  });
}
