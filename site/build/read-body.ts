import type { Node, RenderableTreeNodes } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { newPage } from '@switchyard/explorer/model/field.ts';
import type { ContentsEntry } from '../page-data.ts';
import type { Highlight } from './highlight.ts';
import { imagesOf } from './images.ts';
import { type Link, linksOf } from './links.ts';
import type { MarkupContext, Release } from './markup/context.ts';
import { anchorOf } from './markup/heading.ts';
import { markup } from './markup/markup.ts';
import { swaggerLanguages } from './markup/swagger.ts';
import type { Problem } from './problems.ts';
import { lineOf, type Source } from './source.ts';

/** The body of a page, ready to render, and what the rest of the site must know of it. */
export type Body = {
  tree: RenderableTreeNodes;
  contents: ContentsEntry[];
  anchors: Set<string>;
  links: Link[];
  images: Map<string, Buffer>;
  releases: Release[];
};

/** What every body is read with. */
export type BodyReading = {
  highlight: Highlight;
  problems: Problem[];
  /** When git first saw a text in the content; else the date of the file. */
  firstSeen: (path: string, text: string) => string;
};

/** The languages of the code blocks of a page, and of those that show how to call an operation. */
export function languagesOf(ast: Node): string[] {
  return [...ast.walk()].flatMap((node) => {
    if (node.tag === 'swagger') return swaggerLanguages;
    return node.type === 'fence' ? [String(node.attributes.language)] : [];
  });
}

/** Checks the body of a page against the markup and transforms it. Every mistake is reported with its line. */
export function readBody(
  { file, ast }: Source,
  route: string,
  { highlight, problems, firstSeen }: BodyReading,
): Body {
  const images = imagesOf(file.path);
  const context: MarkupContext = {
    highlight,
    images,
    contents: [],
    tabGroups: 0,
    releases: [],
    firstSeen: (text) => firstSeen(file.path, text),
    operations: newPage(),
    report: (node, message) => problems.push({ file: file.name, line: lineOf(node), message }),
  };
  const config = markup(context);
  let faults = 0;
  for (const { error, lines, location } of Markdoc.validate(ast, config)) {
    faults += 1;
    const line = (location?.start.line ?? lines[0] ?? 0) + 1;
    problems.push({ file: file.name, line, message: `${error.message.replace(/\.+$/, '')}.` });
  }
  // A body with unknown tags or attributes is not transformed: what it would report is only a consequence.
  const tree = faults > 0 ? null : Markdoc.transform(ast, config);
  const headings = [...ast.walk()].filter(({ type }) => type === 'heading');
  const anchors = new Set([
    ...headings.map(anchorOf),
    ...context.contents.map(({ id }) => id),
    ...context.operations.anchors,
  ]);
  return {
    tree,
    contents: context.contents,
    anchors,
    links: linksOf(ast, route, file.name),
    images: images.files,
    releases: context.releases,
  };
}
