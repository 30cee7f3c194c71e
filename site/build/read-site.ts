import { readFileSync } from 'node:fs';
import type { DocsPage, NavigationEntry, Neighbour, PlainPage } from '../page-data.ts';
import { type ContentRoot, listContent } from './content-files.ts';
import { docsSchema, externalSchema, folderSchema, plainSchema, readFrontMatter } from './front-matter.ts';
import { makeHighlighter } from './highlight.ts';
import { readDates } from './last-updated.ts';
import { linkFault } from './links.ts';
import { markdownOf } from './markdown-twin.ts';
import { buildNavigation, linearOrder, type Place, sectionOf } from './navigation.ts';
import { ContentError, type Problem } from './problems.ts';
import { languagesOf, readBody } from './read-page.ts';
import { readSource, type Source } from './source.ts';

/** The whole site as data: what is shown, and which files beside the pages must be written. */
export type Site = {
  navigation: NavigationEntry[];
  /** All pages of the documentation in their one fixed order. */
  docs: DocsPage[];
  plain: PlainPage[];
  /** The Markdown of every page by its route. */
  markdown: Map<string, string>;
  /** Pictures by their address. */
  images: Map<string, Buffer>;
};

export type SiteFolders = { content: ContentRoot; pages: ContentRoot };

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
  using highlighter = await makeHighlighter(sources.flatMap(({ ast }) => languagesOf(ast)));
  const dateOf = readDates(folders.content.folder);

  const places: Place[] = [];
  const site: Site = { navigation: [], docs: [], plain: [], markdown: new Map(), images: new Map() };
  const anchors = new Map<string, Set<string>>();
  const links: { from: string; link: Parameters<typeof linkFault>[0] }[] = [];

  const read = (source: Source, page: { route: string; title: string; intro: string }) => {
    const body = readBody(source, highlighter.highlight, problems);
    anchors.set(page.route, body.anchors);
    for (const link of body.links) links.push({ from: page.route, link });
    for (const [address, bytes] of body.images) site.images.set(address, bytes);
    site.markdown.set(page.route, markdownOf(page, source.ast));
    return body;
  };

  const drafts = new Map<string, Omit<DocsPage, 'section' | 'previous' | 'next'> & { segments: string[] }>();
  for (const source of docsSources) {
    const { name, segments, path } = source.file;
    const at = { file: name, firstLine: 2 };
    if (/^externalUrl:/m.test(source.frontMatter)) {
      const fields = readFrontMatter(source.frontMatter, externalSchema, at, problems);
      if (fields) places.push({ segments, file: name, ...fields });
      continue;
    }
    const fields = readFrontMatter(source.frontMatter, docsSchema, at, problems);
    const route = `/docs/${segments.join('/')}`;
    const { title = segments.at(-1) ?? '', intro = '' } = fields ?? {};
    const { tree, contents } = read(source, { route, title, intro });
    if (!fields) continue;
    const { label, navOrder, version } = fields;
    places.push({ segments, file: name, label, navOrder, route });
    drafts.set(route, {
      route,
      title,
      intro,
      label,
      version,
      contents,
      body: tree,
      lastUpdated: dateOf(path),
      segments,
    });
  }
  for (const source of plainSources) {
    const fields = readFrontMatter(
      source.frontMatter,
      plainSchema,
      { file: source.file.name, firstLine: 2 },
      problems,
    );
    const route = `/${source.file.segments.join('/')}`;
    const { title = '', intro = '' } = fields ?? {};
    site.plain.push({ route, title, intro, body: read(source, { route, title, intro }).tree });
  }
  for (const folder of docsFiles.folders) {
    const { path, name, segments } = folder;
    const fields = readFrontMatter(
      readFileSync(path, 'utf8'),
      folderSchema,
      { file: name, firstLine: 1 },
      problems,
    );
    if (fields) places.push({ segments, file: name, ...fields });
  }

  site.navigation = buildNavigation(places, problems);
  for (const { from, link } of links) {
    const problem = linkFault(link, from, anchors);
    if (problem) problems.push(problem);
  }
  if (problems.length > 0) throw new ContentError(problems.toSorted(byPlace));

  const order = linearOrder(site.navigation);
  site.docs = order.flatMap(({ route }, index) => {
    const draft = drafts.get(route);
    if (!draft) return [];
    const { segments, ...page } = draft;
    return [{ ...page, section: sectionOf(site.navigation, segments), ...neighbours(order, index) }];
  });
  return site;
}

function neighbours(order: Neighbour[], index: number): { previous?: Neighbour; next?: Neighbour } {
  const previous = order[index - 1];
  const next = order[index + 1];
  return { ...(previous && { previous }), ...(next && { next }) };
}

function byPlace(a: Problem, b: Problem): number {
  return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1;
}
