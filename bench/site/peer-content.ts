/**
 * The pages of this site in the form that another builder accepts: the Markdown twin of each. It has tabs one below the
 * other, callouts as quotations, no pictures, and only heading and description of an operation. The others therefore
 * show less.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSite, type Site } from '../../site/generator/pages/read-site.ts';
import type { NavigationEntry } from '../../site/page-data.ts';

const site = join(import.meta.dirname, '..', '..', 'site');

/** These pages are empty without the scripts of this site. */
const OWN = new Set(['/404', '/search']);

/** The parts of the site that other builders get. */
export type ExportedContent = Pick<Site, 'navigation' | 'docs' | 'plain' | 'markdown'>;

/** Reads the pages of the site. */
export function readContent(): Promise<ExportedContent> {
  return readSite({
    content: { folder: join(site, 'content'), name: 'site/content' },
    pages: { folder: join(site, 'pages'), name: 'site/pages' },
    repository: join(site, '..'),
  });
}

/**
 * Returns the path of a documentation page's Markdown below the folder of `/docs`; a page with sub-pages is their
 * index.
 */
function formatPath(route: string, withPagesBelow: ReadonlySet<string>): string {
  const path = route.replace('/docs/', '');
  return withPagesBelow.has(route) ? `${path}/index` : path;
}

function routesWithPagesBelow(entries: NavigationEntry[]): string[] {
  return entries.flatMap(({ route, subpages }) => [
    ...(route !== undefined && subpages !== undefined ? [route] : []),
    ...routesWithPagesBelow(subpages ?? []),
  ]);
}

function pageText(title: string, description: string, markdown: string): string {
  const body = markdown.slice(markdown.indexOf('\n') + 1);
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\n---\n${body}`;
}

/** Writes all pages: those of the documentation below `docs`, the others and the home page below `pages`. */
export function writePages(content: ExportedContent, { docs, pages }: { docs: string; pages: string }): void {
  for (const folder of [docs, pages]) rmSync(folder, { recursive: true, force: true });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const withPagesBelow = new Set(routesWithPagesBelow(content.navigation));
  for (const { route, title, intro } of content.docs) {
    const text = pageText(title, intro, content.markdown.get(route) ?? '');
    write(join(docs, `${formatPath(route, withPagesBelow)}.md`), text);
  }
  for (const { route, title, intro } of content.plain) {
    if (OWN.has(route)) continue;
    write(join(pages, `${route}.md`), pageText(title, intro, content.markdown.get(route) ?? ''));
  }
  const sections = content.navigation.map(({ label, slug }) => `- [${label}](/docs/${slug})`).join('\n');
  const intro = 'A self-hosted platform for optimisation apps.';
  write(join(pages, 'index.md'), pageText('Switchyard', intro, `\n\n${intro}\n\n${sections}\n`));
}

/** Returns the navigation, with every folder and page in the format of a builder. */
export function translateNavigation<T>(
  { navigation }: ExportedContent,
  words: {
    page(label: string, path: string): T;
    group(label: string, path: string | undefined, items: T[]): T;
    link(label: string, address: string): T;
  },
): T[] {
  const withPagesBelow = new Set(routesWithPagesBelow(navigation));
  const translate = ({ label, route, externalUrl, subpages }: NavigationEntry): T[] => {
    if (externalUrl !== undefined) return [words.link(label, externalUrl)];
    const path = route === undefined ? undefined : formatPath(route, withPagesBelow);
    if (subpages !== undefined) return [words.group(label, path, subpages.flatMap(translate))];
    return path === undefined ? [] : [words.page(label, path)];
  };
  return navigation.flatMap(translate);
}
