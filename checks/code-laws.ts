/** Laws about every source: no `any`, no postponed work, readable file sizes, no private paths. */
import { homedir } from 'node:os';
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, isTest, ROOT, type Source } from './source-files.ts';
import { formatLocation, lineNumberAt, parseSource } from './syntax.ts';

export const LINES_MAX = 400;

/** Returns every use of the type `any`. */
export function findAnyTypes(source: Source): string[] {
  const found: string[] = [];
  new Visitor({
    TSAnyKeyword(node) {
      found.push(`${formatLocation(source, node)} uses any: name the type, or use unknown and narrow it.`);
    },
  }).visit(parseSource(source).program);
  return found;
}

/** Returns comments that silence the type checker. */
export function findSilencedErrors(source: Source): string[] {
  return parseSource(source).comments.flatMap((comment) => {
    const silencer = /@ts-(ignore|expect-error|nocheck)/.exec(comment.value)?.[0];
    return silencer
      ? [`${formatLocation(source, comment)} has ${silencer}: correct what the type checker found.`]
      : [];
  });
}

const LEFT_FOR_LATER = /\b(TODO|FIXME|XXX)\b/;

/** In code only comments count, so that a string may contain such a mark; in other files every line counts. */
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

/** Returns the file if it has more than LINES_MAX lines. A test is a list of cases, as long as it has to be. */
export function findLongFiles(source: Source): string[] {
  if (isTest(source.path)) return [];
  const lines = source.text.replace(/\n$/, '').split('\n').length;
  if (lines <= LINES_MAX) return [];
  return [`${source.path} has ${lines} lines; a file has at most ${LINES_MAX}: split it by topic.`];
}

/** Names of values that are patterns, and not text to search for. */
const IS_PATTERN = /^[A-Z][A-Z\d_]*$|[pP]attern$/;
const ESCAPES = /\b(escapeRegExp|RegExp\.escape)\b/;

/** Text in a pattern must be escaped: otherwise it matches other text, or throws for the input of a caller. */
export function findUnescapedPatterns(source: Source): string[] {
  const { program } = parseSource(source);
  const found: string[] = [];
  const isSafe = (node: ESTree.Node): boolean => {
    const text = source.text.slice(node.start, node.end);
    if (node.type === 'Literal' || ESCAPES.test(text)) return true;
    if (node.type === 'TemplateLiteral') return node.expressions.every(isSafe);
    return node.type === 'Identifier' && IS_PATTERN.test(text);
  };
  const checkCall = ({
    callee,
    arguments: passed,
    ...node
  }: ESTree.NewExpression | ESTree.CallExpression) => {
    const [pattern] = passed;
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp' || !pattern || isSafe(pattern)) return;
    found.push(`${formatLocation(source, node)} builds a pattern from text: escape it with escapeRegExp.`);
  };
  new Visitor({ NewExpression: checkCall, CallExpression: checkCall }).visit(program);
  return found;
}

/**
 * Returns paths that exist on one machine only: home and work folders of a person, and the folder of this repository or
 * its user. `places` are folders of this machine. One directly below the root is too common a word to search for.
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

/** The only module that formats numbers. */
const FORMATS = 'contract/presentation/format-quantity.ts';
/** The pictures of the documentation and the output of benchmarks and sample apps are drawn for one page each. */
const FOLDERS = ['contract/', 'server/', 'runner/', 'worker/', 'cli/', 'console/'];

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\bIntl\.NumberFormat\b|\.toLocaleString\(/, 'formats a number'],
  [
    /\b(?:function|const) format(?:Number|Bytes|Duration|Percent|Money|Hours|Ratio|Quantity)\b/,
    'declares a format',
  ],
  [
    /(?:Math\.(?:round|ceil|floor|trunc)|toFixed|toPrecision)\([^`]*\)\}[ \u00a0](?:%|ms|s|min|h|B|kB|MB|GB)(?![\w/]| \d)/,
    'formats a number with its unit',
  ],
];

/** Returns the lines that format numbers elsewhere. */
export function findOtherFormats({ path, text }: Source): string[] {
  if (path === FORMATS || !FOLDERS.some((folder) => path.startsWith(folder))) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      PATTERNS.flatMap(([pattern, fault]) =>
        pattern.test(line)
          ? [`${path}:${index + 1} ${fault}: use the function for its kind from ${FORMATS}.`]
          : [],
      ),
    );
}
