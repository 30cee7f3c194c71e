import type { Node } from '@markdoc/markdoc';
import type { DocsPage, NavigationEntry, Neighbour, PlainPage } from '../../page-data.ts';
import { type ContentRoot, listContent } from '../inputs/content-files.ts';
import { createHighlighter } from '../inputs/highlight.ts';
import { findFirstCommitDate, readCommitDates } from '../inputs/last-updated.ts';
import { ContentError, type Problem } from '../inputs/problems.ts';
import { getNodeLine, readSource } from '../inputs/source.ts';
import type { ReleaseEntry } from '../markup/markup-context.ts';
import { expandCodeReferences } from './expand-code-references.ts';
import { expandCommands } from './expand-commands.ts';
import { checkLink } from './links.ts';
import { buildNavigation, findParents, flattenNavigation } from './navigation.ts';
import { collectCodeLanguages } from './read-body.ts';
import { type PageDraft, readDocsPage, readFolder, readPlainPage, type SiteReadState } from './read-page.ts';
import type { PageSection } from './search-sections.ts';
import { arrangeByTask, readTasks } from './tasks.ts';

/** The whole site as data: its pages, and the other files to write. */
export type Site = {
  /** The pages and folders by address. */
  tree: NavigationEntry[];
  /** The pages by task of the reader. */
  navigation: NavigationEntry[];
  /** All pages of the documentation in their one fixed order. */
  docs: DocsPage[];
  plain: PlainPage[];
  /** The Markdown of every page by its route. */
  markdown: Map<string, string>;
  /** The sections of every page by its route, for the search. */
  sections: Map<string, PageSection[]>;
  releases: ReleaseEntry[];
  /** Pictures by their address. */
  images: Map<string, Buffer>;
  /** Files outside the content that pages show code from. */
  references: string[];
  /** Gaps that the pages themselves report to their readers. */
  warnings: Problem[];
};

/** `repository` is the folder to which the names in code references are relative. */
export type SiteFolders = { content: ContentRoot; pages: ContentRoot; repository: string };

/** Returns the first page of the documentation, which `/docs` shows. */
export function getFirstPage(site: Site): DocsPage {
  const [first] = site.docs;
  if (!first) throw new Error('The content folder has no page; the site needs at least one.');
  return first;
}

/**
 * Reads all content and computes the data of all pages. Throws ContentError with the mistakes of all files.
 */
export async function readSite(folders: SiteFolders): Promise<Site> {
  const problems: Problem[] = [];
  const docsFiles = listContent(folders.content, problems);
  const docsSources = docsFiles.pages.map(readSource);
  const plainSources = listContent(folders.pages, problems).pages.map(readSource);
  const sources = [...docsSources, ...plainSources];
  await Promise.all(sources.map(({ ast }) => expandCommands(ast)));
  const references = sources.flatMap(({ file, ast }) => {
    const report = (node: Node, message: string) =>
      problems.push({ file: file.name, line: getNodeLine(node), message });
    return expandCodeReferences(ast, folders.repository, report);
  });
  const languages = sources.flatMap(({ ast }) => collectCodeLanguages(ast));
  using highlighter = await createHighlighter(languages);
  const reading: SiteReadState = {
    highlight: highlighter.highlight,
    getLastUpdated: readCommitDates(folders.content.folder),
    problems,
    warnings: [],
    navigationEntries: [],
    anchors: new Map(),
    links: [],
    markdown: new Map(),
    sections: new Map(),
    releases: [],
    findFirstCommitDate: (path, text) => findFirstCommitDate(folders.content.folder, path, text),
    images: new Map(),
  };
  const drafts = docsSources.flatMap((source) => readDocsPage(source, reading) ?? []);
  const plain = plainSources.map((source) => readPlainPage(source, reading));
  for (const folder of docsFiles.folders) readFolder(folder, reading);

  const tree = buildNavigation(reading.navigationEntries, problems);
  const tasks = readTasks(folders.content);
  const navigation = tasks ? arrangeByTask(tree, tasks, folders.content, problems) : tree;
  problems.push(...reading.links.flatMap((link) => checkLink(link, reading.anchors) ?? []));
  if (problems.length > 0) throw new ContentError(problems.toSorted(byPlace));
  const { markdown, sections, releases, images, warnings } = reading;
  const docs = orderPages(drafts, navigation);
  warnings.sort(byPlace);
  return { tree, navigation, docs, plain, markdown, sections, releases, images, references, warnings };
}

/** Sorts the pages into their fixed order and adds the section and the neighbours of each. */
function orderPages(drafts: PageDraft[], navigation: NavigationEntry[]): DocsPage[] {
  const order = flattenNavigation(navigation);
  return order.flatMap(({ route }, index) => {
    const draft = drafts.find((candidate) => candidate.route === route);
    if (!draft) return [];
    return [{ ...draft, section: findParents(navigation, route), ...findNeighbours(order, index) }];
  });
}

function findNeighbours(order: Neighbour[], index: number): { previous?: Neighbour; next?: Neighbour } {
  const previous = order[index - 1];
  const next = order[index + 1];
  return { ...(previous && { previous }), ...(next && { next }) };
}

function byPlace(a: Problem, b: Problem): number {
  return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1;
}
