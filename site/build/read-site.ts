import type { Node } from '@markdoc/markdoc';
import type { DocsPage, NavigationEntry, Neighbour, PlainPage } from '../page-data.ts';
import { expandCodeReferences } from './code-reference.ts';
import { type ContentRoot, listContent } from './content-files.ts';
import type { ReleaseEntry } from './feed.ts';
import { makeHighlighter } from './highlight.ts';
import { firstSeen, readDates } from './last-updated.ts';
import { linkFault } from './links.ts';
import { buildNavigation, linearOrder, sectionOf } from './navigation.ts';
import { ContentError, type Problem } from './problems.ts';
import { languagesOf } from './read-body.ts';
import { type Draft, type Reading, readDocsPage, readFolder, readPlainPage } from './read-page.ts';
import type { PageSection } from './search-sections.ts';
import { lineOf, readSource } from './source.ts';

/** The whole site as data: what is shown, and which files beside the pages must be written. */
export type Site = {
  navigation: NavigationEntry[];
  /** All pages of the documentation in their one fixed order. */
  docs: DocsPage[];
  plain: PlainPage[];
  /** The Markdown of every page by its route. */
  markdown: Map<string, string>;
  /** What the search reads of every page, by its route. */
  sections: Map<string, PageSection[]>;
  releases: ReleaseEntry[];
  /** Pictures by their address. */
  images: Map<string, Buffer>;
  /** Files outside the content that pages show code from. */
  references: string[];
  /** What the pages lack and say so themselves. */
  warnings: Problem[];
};

/** `repository` is the folder that code references name their files from. */
export type SiteFolders = { content: ContentRoot; pages: ContentRoot; repository: string };

/** The first page of the documentation, which `/docs` shows. */
export function firstOf(site: Site): DocsPage {
  const [first] = site.docs;
  if (!first) throw new Error('The content folder holds no page; the site needs at least one.');
  return first;
}

/**
 * Reads all content and computes everything the pages show. Throws ContentError with every mistake found in any file.
 */
export async function readSite(folders: SiteFolders): Promise<Site> {
  const problems: Problem[] = [];
  const docsFiles = listContent(folders.content, problems);
  const docsSources = docsFiles.pages.map(readSource);
  const plainSources = listContent(folders.pages, problems).pages.map(readSource);
  const sources = [...docsSources, ...plainSources];
  const references = sources.flatMap(({ file, ast }) => {
    const report = (node: Node, message: string) =>
      problems.push({ file: file.name, line: lineOf(node), message });
    return expandCodeReferences(ast, folders.repository, report);
  });
  const languages = sources.flatMap(({ ast }) => languagesOf(ast));
  using highlighter = await makeHighlighter(languages);
  const reading: Reading = {
    highlight: highlighter.highlight,
    dateOf: readDates(folders.content.folder),
    problems,
    warnings: [],
    places: [],
    anchors: new Map(),
    links: [],
    markdown: new Map(),
    sections: new Map(),
    releases: [],
    firstSeen: (path, text) => firstSeen(folders.content.folder, path, text),
    images: new Map(),
  };
  const drafts = docsSources.flatMap((source) => readDocsPage(source, reading) ?? []);
  const plain = plainSources.map((source) => readPlainPage(source, reading));
  for (const folder of docsFiles.folders) readFolder(folder, reading);

  const navigation = buildNavigation(reading.places, problems);
  problems.push(...reading.links.flatMap((link) => linkFault(link, reading.anchors) ?? []));
  if (problems.length > 0) throw new ContentError(problems.toSorted(byPlace));
  const { markdown, sections, releases, images, warnings } = reading;
  const docs = inOrder(drafts, navigation);
  warnings.sort(byPlace);
  return { navigation, docs, plain, markdown, sections, releases, images, references, warnings };
}

/** Puts the pages into the one fixed order and gives each its section and its neighbours. */
function inOrder(drafts: Draft[], navigation: NavigationEntry[]): DocsPage[] {
  const order = linearOrder(navigation);
  return order.flatMap(({ route }, index) => {
    const draft = drafts.find((candidate) => candidate.route === route);
    if (!draft) return [];
    const { segments, ...page } = draft;
    return [{ ...page, section: sectionOf(navigation, segments), ...neighbours(order, index) }];
  });
}

function neighbours(order: Neighbour[], index: number): { previous?: Neighbour; next?: Neighbour } {
  const previous = order[index - 1];
  const next = order[index + 1];
  return { ...(previous && { previous }), ...(next && { next }) };
}

function byPlace(a: Problem, b: Problem): number {
  return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1;
}
