import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Assets, type NavigationEntry, UNLISTED_ROUTES, type View } from '../../page-data.ts';
import { getFirstRoute } from '../pages/navigation.ts';
import { getFirstPage, type Site } from '../pages/read-site.ts';
import { formatAtomFeed } from './atom-feed.ts';
import type { Bundle } from './bundle.ts';
import { buildSearchRecords } from './search-records.ts';

/** Formats the source expression of an inlined text for a Content-Security-Policy. */
function formatHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Formats the hashes that a strict policy needs: `scripts` for script-src and `styles` for style-src, each beside 'self'.
 * No page needs more.
 */
function formatCsp({ css, sheets, inline }: Assets): string {
  const policy = {
    scripts: [inline.head, inline.tabs, inline.speculation].map(formatHash),
    styles: [css, ...sheets.map((sheet) => sheet.css)].map(formatHash),
  };
  return `${JSON.stringify(policy, null, 2)}\n`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function formatSitemap(site: Site, publicUrl: string): string {
  const at = (route: string) => escapeXml(new URL(route, publicUrl).href);
  const plain = site.plain
    .filter(({ route }) => !UNLISTED_ROUTES.has(route))
    .map(({ route }) => `<url><loc>${at(route)}</loc></url>`);
  const docs = site.docs.map(({ route, lastUpdated }) => {
    const changed = lastUpdated ? `<lastmod>${lastUpdated.iso}</lastmod>` : '';
    return `<url><loc>${at(route)}</loc>${changed}</url>`;
  });
  const urls = [`<url><loc>${at('/')}</loc></url>`, ...docs, ...plain].join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
}

/** Search engines may read the pages, but neither the API nor searches. */
function formatRobots(publicUrl: string): string {
  const sitemap = new URL('/sitemap.xml', publicUrl).href;
  return `User-agent: *\nDisallow: /v1/\nDisallow: /search\n\nSitemap: ${sitemap}\n`;
}

/**
 * Formats a list of all pages for language models, as described on https://llmstxt.org. Every entry links to the Markdown
 * of a page, and every section of the site has its own list.
 */
function formatPageList(site: Site, publicUrl: string): string {
  const lists = new Map<string, string[]>();
  for (const { route, section, title, intro } of site.docs) {
    const [above = title, ...groups] = section.map((folder) => folder.label);
    const name = [...groups, title].join(' / ');
    const list = lists.get(above) ?? [];
    lists.set(above, [...list, `- [${name}](${new URL(`${route}.md`, publicUrl).href}): ${intro}`]);
  }
  const sections = [...lists].map(([name, list]) => `## ${name}\n\n${list.join('\n')}\n`);
  const summary = 'A self-hosted platform for optimisation apps. These are all pages of its documentation.';
  return ['# Switchyard\n', `> ${summary}\n`, ...sections].join('\n');
}

/** Lists the address of every folder without a page of its own, with the route of the first page below it. */
function listFolderAddresses(
  entries: NavigationEntry[],
  above = '/docs',
): [address: string, first: string][] {
  return entries.flatMap((entry) => {
    const address = `${above}/${entry.slug}`;
    const first = getFirstRoute(entry);
    const own: [string, string][] =
      entry.route === undefined && first !== undefined ? [[address, first]] : [];
    return [...own, ...listFolderAddresses(entry.subpages ?? [], address)];
  });
}

/** Renders every file of the site; returns them by their path below the output folder. */
export function renderSite(
  site: Site,
  { render, assets, files }: Bundle,
  publicUrl: string,
): Map<string, string | Buffer> {
  const { tree, navigation } = site;
  const output = new Map<string, string | Buffer>();
  const add = (address: string, content: string | Buffer) => output.set(address.slice(1), content);
  const addPage = (address: string, view: View) => add(`${address}.html`, render(view));
  const first = getFirstPage(site);

  addPage('/index', { kind: 'home', firstPage: { route: first.route, label: first.title }, assets });
  addPage('/docs', { kind: 'docs', page: first, navigation, assets });
  for (const docs of site.docs) addPage(docs.route, { kind: 'docs', page: docs, navigation, assets });
  for (const [address, route] of listFolderAddresses(tree)) {
    const docs = site.docs.find((one) => one.route === route);
    if (docs) addPage(address, { kind: 'docs', page: docs, navigation, assets });
  }
  for (const plain of site.plain) addPage(plain.route, { kind: 'plain', page: plain, assets });
  for (const [route, markdown] of site.markdown)
    if (!UNLISTED_ROUTES.has(route)) add(`${route}.md`, markdown);
  for (const [address, content] of [...files, ...site.images]) add(address, content);
  add('/banner.json', readFileSync(join(import.meta.dirname, '..', '..', 'banner.json')));
  add('/csp.json', formatCsp(assets));
  add('/sitemap.xml', formatSitemap(site, publicUrl));
  add('/releases.atom', formatAtomFeed(site.releases, publicUrl));
  add('/robots.txt', formatRobots(publicUrl));
  add('/favicon.ico', readFileSync(join(import.meta.dirname, '..', '..', 'pictures', 'favicon.ico')));
  add('/llms.txt', formatPageList(site, publicUrl));
  add('/llms-full.txt', formatFullText(site));
  add('/search.json', JSON.stringify(buildSearchRecords(site)));
  return output;
}

/** Formats the Markdown of all pages of the documentation as one text, in their order, for language models. */
function formatFullText({ docs, markdown }: Site): string {
  return docs.map(({ route }) => `<!-- ${route} -->\n\n${markdown.get(route) ?? ''}`).join('\n');
}
