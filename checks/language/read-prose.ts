/** Reads the sentences of comments, messages and pages with retext. */
import type { Root as MarkdownRoot } from 'mdast';
import { toString as markdownText } from 'mdast-util-to-string';
import type { Sentence } from 'nlcst';
import { toString as sentenceText } from 'nlcst-to-string';
import remarkFrontmatter from 'remark-frontmatter';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import retextEnglish from 'retext-english';
import retextRepeatedWords from 'retext-repeated-words';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { VFile } from 'vfile';
import { isCode, type Source } from '../source-files.ts';
import { collectTexts, type TextPlace } from './text-places.ts';

/** A sentence with its line and its number of words. */
export interface ProseSentence {
  text: string;
  /** Line in the file, from 1. */
  line: number;
  words: number;
}

/** Code in running text counts as one word. */
const CODE_WORD = 'code';

const linter = unified().use(retextEnglish).use(retextRepeatedWords);
const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter);

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Tags of the site stand between paragraphs or within one; their attributes are not prose. */
function readMarkdown(text: string): TextPlace[] {
  const paragraphs: TextPlace[] = [];
  const root: MarkdownRoot = markdown.parse(text.replace(/\{%.*?%\}/gs, blank));
  visit(root, (node) => {
    if (node.type === 'inlineCode') node.value = CODE_WORD;
    if (node.type === 'html') node.value = '';
  });
  visit(root, ['paragraph', 'heading', 'tableCell'], (node) => {
    const line = node.position?.start.line ?? 1;
    paragraphs.push({ text: markdownText(node), line });
  });
  return paragraphs;
}

/** Indented lines of a comment are code; a directive is for a tool. */
function readComment({ text, line }: TextPlace): TextPlace[] {
  if (/^\s*(biome-ignore|@|#)/.test(text)) return [];
  const prose = text
    .replace(/^ {3,}\S.*$/gm, '')
    .replace(/`[^`\n]*`/g, CODE_WORD)
    .replace(/^\s*[-·*] /gm, '\n')
    .replace(/^\s*@\w+.*$/gm, '');
  return [{ text: prose, line }];
}

const SENTENCE_LIKE = /^[A-Z].*\s\S+.*[.:!?]$/s;

/** Finds strings that are sentences; other strings are patterns, queries and single words. */
function readMessage({ text, line }: TextPlace): TextPlace[] {
  const prose = text.replace(/`[^`\n]*`/g, CODE_WORD).trim();
  return SENTENCE_LIKE.test(prose) ? [{ text: prose, line }] : [];
}

const paragraphs = new WeakMap<Source, readonly TextPlace[]>();

/** Returns the prose of a TypeScript source or a Markdown page; other files have none. */
function readParagraphs(source: Source): readonly TextPlace[] {
  const known = paragraphs.get(source);
  if (known) return known;
  const { comments, strings } = collectTexts(source);
  const read = isCode(source)
    ? [...comments.flatMap(readComment), ...strings.flatMap(readMessage)]
    : source.path.endsWith('.md')
      ? readMarkdown(source.text)
      : [];
  paragraphs.set(source, read);
  return read;
}

/** The sentences of a source, and the reports of retext about them. */
export interface Prose {
  sentences: readonly ProseSentence[];
  /** Reports of repeated words. */
  repeated: readonly { line: number; reason: string }[];
}

const proses = new WeakMap<Source, Prose>();

/** Parses the paragraphs, and returns the sentences of each with their paragraph. */
function parseSentences(paragraphs: readonly TextPlace[]): Map<unknown, TextPlace & { node: Sentence }> {
  const parsed = new Map<unknown, TextPlace & { node: Sentence }>();
  for (const paragraph of paragraphs)
    visit(linter.parse(new VFile(paragraph.text)), 'SentenceNode', (node: Sentence) => {
      parsed.set(node, { ...paragraph, node });
    });
  return parsed;
}

/**
 * Runs the rules once over all paragraphs, because each rule prepares its hundreds of phrases in every run. Two adjacent
 * pieces of code are no repeated word.
 */
function lintParagraphs(paragraphs: readonly TextPlace[]): Prose {
  const parsed = parseSentences(paragraphs);
  const file = new VFile();
  const nodes = [...parsed.values()].map(({ node }) => node);
  linter.runSync({ type: 'RootNode', children: [{ type: 'ParagraphNode', children: nodes }] }, file);
  const lineIn = ({ line }: TextPlace, inside: number | undefined) => line + (inside ?? 1) - 1;
  const repeated = file.messages.flatMap(({ line, reason, ancestors: [sentence] = [] }) => {
    const paragraph = parsed.get(sentence);
    const isCode = reason.includes(`\`${CODE_WORD}\``);
    return paragraph && !isCode ? [{ line: lineIn(paragraph, line), reason }] : [];
  });
  const sentences: ProseSentence[] = [];
  for (const { node, ...paragraph } of parsed.values()) {
    let words = 0;
    visit(node, 'WordNode', () => {
      words += 1;
    });
    if (words > 0)
      sentences.push({
        text: sentenceText(node).replace(/\s+/g, ' '),
        line: lineIn(paragraph, node.position?.start.line),
        words,
      });
  }
  return { sentences, repeated };
}

/** Returns the sentences of a source, in the order of its paragraphs, with the reports of retext. */
export function readProse(source: Source): Prose {
  const known = proses.get(source);
  if (known) return known;
  const prose = lintParagraphs(readParagraphs(source));
  proses.set(source, prose);
  return prose;
}
