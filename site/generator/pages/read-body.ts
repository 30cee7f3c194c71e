import Markdoc, { type Node, type RenderableTreeNodes } from '@markdoc/markdoc';
import { createPageState } from '@switchyard/explorer/model/schema/field.ts';
import type { ContentsEntry } from '../../page-data.ts';
import type { HighlightCode } from '../inputs/highlight.ts';
import { createImageReader } from '../inputs/images.ts';
import type { Problem } from '../inputs/problems.ts';
import { getNodeLine, type Source } from '../inputs/source.ts';
import { getHeadingAnchor, getPlainText } from '../markup/heading.ts';
import { createMarkupConfig } from '../markup/markup-config.ts';
import type { MarkupContext, Release } from '../markup/markup-context.ts';
import { SAMPLE_LANGUAGES } from '../markup/swagger.ts';
import { collectLinks, findMalformedLinks, type Link } from './links.ts';

/** The tags that each tag or node may be in. One that is not listed may be anywhere; a page is not a tag. */
const around: Record<string, readonly string[]> = {
  heading: ['release'],
  hint: ['release', 'tabs', 'tab'],
  release: [],
  'search-again': [],
  'service-status': [],
  'sign-up': [],
  swagger: [],
  tabs: ['release', 'hint'],
};

const known = new Set([...Object.keys(around), 'tab']);

/** Tags that need content. */
const containers = new Set(['hint', 'release', 'tab']);

/** The body of a page, ready to render, with its anchors, links, pictures and releases. */
export type PageBody = {
  tree: RenderableTreeNodes;
  contents: ContentsEntry[];
  anchors: Set<string>;
  links: Link[];
  images: Map<string, Buffer>;
  releases: Release[];
};

/** The services and lists of problems that all bodies share. */
export type BodyContext = {
  highlight: HighlightCode;
  problems: Problem[];
  warnings: Problem[];
  /** Returns the date of the first commit with a line that matches the pattern; otherwise that of the file. */
  findFirstCommitDate: (path: string, pattern: string) => string;
};

/** Collects the languages of the code blocks of a page and of the samples of its operations. */
export function collectCodeLanguages(ast: Node): string[] {
  return [...ast.walk()].flatMap((node) => {
    if (node.tag === 'swagger') return SAMPLE_LANGUAGES;
    return node.type === 'fence' ? [String(node.attributes.language)] : [];
  });
}

/** Checks the body of a page against the markup and transforms it. Adds every mistake to `problems` with its line. */
export function readBody(
  source: Source,
  route: string,
  { highlight, problems, warnings, findFirstCommitDate }: BodyContext,
): PageBody {
  const { file, ast, lines } = source;
  const images = createImageReader(file.path);
  const faulty = new Set<number>();
  const add = (line: number, message: string) => {
    faulty.add(line);
    problems.push({ file: file.name, line, message });
  };
  const context: MarkupContext = {
    highlight,
    images,
    contents: [],
    tabGroups: 0,
    releases: [],
    findFirstCommitDate: (pattern) => findFirstCommitDate(file.path, pattern),
    operations: createPageState(),
    report: (node, message) => {
      const line = getNodeLine(node, lines);
      // Markdoc has reported this line already, and most other faults on it follow from that one.
      if (!invalid.has(line)) add(line, message);
    },
    warn: (node, message) => warnings.push({ file: file.name, line: getNodeLine(node, lines), message }),
  };
  const config = createMarkupConfig(context);
  const errors = Markdoc.validate(ast, config);
  for (const {
    error,
    lines: [first = 0],
    location,
  } of errors)
    add((location?.start.line ?? first) + 1, `${error.message.replace(/\.+$/, '')}.`);
  const invalid = new Set(faulty);
  // If a tag has no end, its intended content is unknown, so further checks would mislead.
  const isWhole = !errors.some(({ error: { id } }) => /missing-(opening|closing)|parse-error/.test(id));
  if (isWhole) {
    checkNesting(ast, context.report);
    for (const line of faulty) invalid.add(line);
  }
  const tree = isWhole ? Markdoc.transform(ast, config) : null;
  problems.push(...findMalformedLinks(source));
  const headings = [...ast.walk()].filter(({ type }) => type === 'heading');
  const anchors = new Set([
    ...headings.map(getHeadingAnchor),
    ...context.contents.map(({ id }) => id),
    ...context.operations.anchors,
  ]);
  return {
    tree,
    contents: context.contents,
    anchors,
    links: collectLinks(source, route),
    images: images.files,
    releases: context.releases,
  };
}

/** Reports tags and headings inside a tag that may not contain them, and empty tags. */
function checkNesting(node: Node, report: (node: Node, message: string) => void): void {
  const walk = (parent: Node, tags: readonly string[]) => {
    for (const child of parent.children) {
      const wrong = findFault(child, tags);
      if (wrong !== undefined) report(child, wrong);
      walk(child, child.type === 'tag' ? [...tags, child.tag ?? ''] : tags);
    }
  };
  walk(node, []);
}

function findFault(node: Node, tags: readonly string[]): string | undefined {
  const kind = node.type === 'tag' ? (node.tag ?? '') : node.type;
  if (node.type === 'tag' && containers.has(kind) && node.children.length === 0) {
    return `The tag "${kind}" holds nothing; close it behind the text it is for: {% ${kind} %} … {% /${kind} %}.`;
  }
  if (kind === 'tab') {
    return tags.at(-1) === 'tabs'
      ? undefined
      : 'A "tab" stands in "tabs" only: put {% tabs group="…" %} around it.';
  }
  const allowed = around[kind];
  const wrong = tags.findLast((tag) => known.has(tag) && !allowed?.includes(tag));
  if (allowed === undefined || wrong === undefined) return undefined;
  const name = kind === 'heading' ? `heading "${getPlainText(node).trim()}"` : `tag "${kind}"`;
  const others = allowed.map((tag) => ` or in "${tag}"`).join('');
  return `The ${name} cannot stand in "${wrong}"; put it into the page itself${others}.`;
}
