/**
 * Reads one page or folder into the state from which the site is built. The state is complete once every file is read;
 * only then can links and places be checked.
 */
import { readFileSync } from 'node:fs';
import type { DocsPage, LastUpdated, PlainPage } from '../../page-data.ts';
import type { ContentFile } from '../inputs/content-files.ts';
import {
  docsSchema,
  externalSchema,
  folderSchema,
  plainSchema,
  readFrontMatter,
} from '../inputs/front-matter.ts';
import type { Source } from '../inputs/source.ts';
import type { ReleaseEntry } from '../markup/markup-context.ts';
import type { Link } from './links.ts';
import type { UnplacedEntry } from './navigation.ts';
import { formatPlainMarkdown } from './plain-markdown.ts';
import { type BodyContext, type PageBody, readBody } from './read-body.ts';
import { type PageSection, splitIntoSections } from './search-sections.ts';

/** The content of the files read so far, with their mistakes. */
export type SiteReadState = BodyContext & {
  getLastUpdated: (path: string) => LastUpdated | undefined;
  navigationEntries: UnplacedEntry[];
  /** The heading anchors of every route. */
  anchors: Map<string, Set<string>>;
  links: Link[];
  markdown: Map<string, string>;
  /** The sections of every route, for the search. */
  sections: Map<string, PageSection[]>;
  releases: ReleaseEntry[];
  images: Map<string, Buffer>;
};

/** A page of the documentation before its place among the others is known. */
export type PageDraft = Omit<DocsPage, 'section' | 'previous' | 'next'>;

/** The lines of the front matter start after its first `---`. */
const locateFrontMatter = (file: ContentFile) => ({ file: file.name, firstLine: 2 });

function addBody(
  source: Source,
  page: { route: string; title: string; intro: string },
  reading: SiteReadState,
): PageBody {
  const body = readBody(source, page.route, reading);
  reading.anchors.set(page.route, body.anchors);
  reading.links.push(...body.links);
  for (const [address, bytes] of body.images) reading.images.set(address, bytes);
  reading.markdown.set(page.route, formatPlainMarkdown(page, source.ast, body.releases));
  const sections = splitIntoSections(source.ast);
  reading.sections.set(page.route, sections);
  for (const release of body.releases) {
    const notes = sections
      .filter((section) => section.release === release.version)
      .map(({ header, text }) => `${header}: ${text}`);
    reading.releases.push({ ...release, route: page.route, notes: notes.join(' ') });
  }
  return body;
}

/** Reads a page below /docs, or a link out of the site; returns undefined for a link and for invalid front matter. */
export function readDocsPage(source: Source, reading: SiteReadState): PageDraft | undefined {
  const { file, frontMatter } = source;
  const { name, segments } = file;
  if (/^externalUrl:/m.test(frontMatter)) {
    const link = readFrontMatter(frontMatter, externalSchema, locateFrontMatter(file), reading.problems);
    if (link) reading.navigationEntries.push({ segments, file: name, ...link });
    return undefined;
  }
  const fields = readFrontMatter(frontMatter, docsSchema, locateFrontMatter(file), reading.problems);
  const route = `/docs/${segments.join('/')}`;
  const { title = '', intro = '' } = fields ?? {};
  const { tree, contents } = addBody(source, { route, title, intro }, reading);
  if (!fields) return undefined;
  const { navOrder, version, keywords } = fields;
  reading.navigationEntries.push({ segments, file: name, label: title, navOrder, route });
  const lastUpdated = reading.getLastUpdated(file.path);
  const page = { route, title, intro, version, keywords, contents, body: tree };
  return lastUpdated ? { ...page, lastUpdated } : page;
}

/** Reads a page outside the documentation. */
export function readPlainPage(source: Source, reading: SiteReadState): PlainPage {
  const fields = readFrontMatter(
    source.frontMatter,
    plainSchema,
    locateFrontMatter(source.file),
    reading.problems,
  );
  const route = `/${source.file.segments.join('/')}`;
  const { title = '', intro = '' } = fields ?? {};
  return { route, title, intro, body: addBody(source, { route, title, intro }, reading).tree };
}

/** Reads the file that names a folder. */
export function readFolder({ path, name, segments }: ContentFile, reading: SiteReadState): void {
  const yaml = readFileSync(path, 'utf8');
  const fields = readFrontMatter(yaml, folderSchema, { file: name, firstLine: 1 }, reading.problems);
  if (fields) reading.navigationEntries.push({ segments, file: name, ...fields });
}
