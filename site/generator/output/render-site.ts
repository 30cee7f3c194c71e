import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Assets, type NavigationEntry, UNLISTED_ROUTES, type View } from '../../page-data.ts';
import { flattenNavigation } from '../pages/navigation.ts';
import { getFirstPage, type Site } from '../pages/read-site.ts';
import { formatAtomFeed } from './atom-feed.ts';
import type { Bundle } from './bundle.ts';
import { formatFullText } from './llms-full-text.ts';
import { buildSearchRecords } from './search-records.ts';

/** A Content-Security-Policy source expression for an inlined text. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * What the server needs for a strict policy: `scripts` go to script-src and `styles` to style-src, each beside 'self'.
 * No page needs anything else.
 */
function cspOf({ css, sheets, inline }: Assets): string {
  const policy = {
    scripts: [inline.head, inline.tabs, inline.speculation].map(hashOf),
    styles: [css, ...sheets.map((sheet) => sheet.css)].map(hashOf),
  };
  return `${JSON.stringify(policy, null, 2)}\n`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function sitemapOf(site: Site, publicUrl: string): string {
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

/** Robots read the pages; the API and searches are not for them. */
function robotsOf(publicUrl: string): string {
  const sitemap = new URL('/sitemap.xml', publicUrl).href;
  return `User-agent: *\nDisallow: /v1/\nDisallow: /search\n\nSitemap: ${sitemap}\n`;
}

/**
 * A list of all pages for programs that read text, in the form of llmstxt.org: every entry is the Markdown of a page, and
 * every section of the site a list of its own.
 */
function listOf(site: Site, publicUrl: string): string {
  const lists = new Map<string, string[]>();
  for (const { route, section, label, title, intro } of site.docs) {
    const [above = label, ...groups] = section.map((folder) => folder.label);
    const name = [...groups, title].join(' / ');
    const list = lists.get(above) ?? [];
    lists.set(above, [...list, `- [${name}](${new URL(`${route}.md`, publicUrl).href}): ${intro}`]);
  }
  const sections = [...lists].map(([name, list]) => `## ${name}\n\n${list.join('\n')}\n`);
  const summary = 'A self-hosted platform for optimisation apps. These are all pages of its documentation.';
  return ['# Switchyard\n', `> ${summary}\n`, ...sections].join('\n');
}

/** The address of every folder that has no page of its own, with the route of the first page below it. */
function folderAddresses(entries: NavigationEntry[], above = '/docs'): [address: string, first: string][] {
  return entries.flatMap(({ slug, route, subpages = [] }) => {
    const address = `${above}/${slug}`;
    const first = flattenNavigation(subpages)[0];
    const own: [string, string][] = route === undefined && first ? [[address, first.route]] : [];
    return [...own, ...folderAddresses(subpages, address)];
  });
}

/** Every file of the site by its path below the output folder. */
export function renderSite(
  site: Site,
  { render, assets, files }: Bundle,
  publicUrl: string,
): Map<string, string | Buffer> {
  const { navigation } = site;
  const output = new Map<string, string | Buffer>();
  const add = (address: string, content: string | Buffer) => output.set(address.slice(1), content);
  const page = (address: string, view: View) => add(`${address}.html`, render(view));
  const first = getFirstPage(site);

  page('/index', { kind: 'home', firstPage: { route: first.route, label: first.label }, assets });
  page('/docs', { kind: 'docs', page: first, navigation, assets });
  for (const docs of site.docs) page(docs.route, { kind: 'docs', page: docs, navigation, assets });
  for (const [address, route] of folderAddresses(navigation)) {
    const docs = site.docs.find((one) => one.route === route);
    if (docs) page(address, { kind: 'docs', page: docs, navigation, assets });
  }
  for (const plain of site.plain) page(plain.route, { kind: 'plain', page: plain, assets });
  for (const [route, markdown] of site.markdown)
    if (!UNLISTED_ROUTES.has(route)) add(`${route}.md`, markdown);
  for (const [address, content] of [...files, ...site.images]) add(address, content);
  add('/banner.json', readFileSync(join(import.meta.dirname, '..', '..', 'banner.json')));
  add('/csp.json', cspOf(assets));
  add('/sitemap.xml', sitemapOf(site, publicUrl));
  add('/releases.atom', formatAtomFeed(site.releases, publicUrl));
  add('/robots.txt', robotsOf(publicUrl));
  add('/favicon.ico', readFileSync(join(import.meta.dirname, '..', '..', 'pictures', 'favicon.ico')));
  add('/llms.txt', listOf(site, publicUrl));
  add('/llms-full.txt', formatFullText(site));
  add('/search.json', JSON.stringify(buildSearchRecords(site)));
  return output;
}
