/**
 * Serves the built documentation site from memory. A new build in the same folder has no effect until the next start, so a
 * page never gets the content security policy of another build. URLs have no ending: `/docs/a/b` is `docs/a/b.html`. A
 * file is sent compressed when the build wrote a compressed copy and the client accepts its encoding.
 */
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { BANNER_PATH } from '@switchyard/contract/site/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/site/search.ts';
import { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import { BUILD_ADDRESS, replaceAddressInCode } from '@switchyard/contract/site/site-address.ts';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ErrorPages } from '../../platform/http/error-responses.ts';
import { escapeHtml } from '../search/escape-html.ts';
import { createSearch, type Search } from '../search/search-index.ts';
import {
  createStaticFiles,
  FILE_TYPES,
  readBuiltFiles,
  type StaticFile,
  sendNotFoundPage,
  sendStaticFile,
} from './static-file.ts';

const SEARCH_RECORDS = '/search.json';
const PRIVATE_FILES = ['/csp.json', '/input-hash.txt', SEARCH_RECORDS];
/** Files that need absolute URLs, which only the running server knows. */
const FILES_WITH_ADDRESS = ['/sitemap.xml', '/robots.txt', '/releases.atom', '/llms.txt'];
const FULL_TEXT = '/llms-full.txt';
const NOT_FOUND = '/404.html';
const ERROR = '/error.html';
/** The empty paragraph of the error page for the message. */
const ERROR_SLOT = /(<p data-error="">)(<\/p>)/;
/** The places of a page that name the server: the body element for scripts, and the code blocks for readers. */
const ADDRESS_PLACES = /<body [^>]*>|<pre[ >].*?<\/pre>/gs;

/** A built site in memory. */
export interface Site {
  /** Files by URL path; pages have no ending. */
  files: ReadonlyMap<string, StaticFile>;
  /** Headers of pages, and of other files. Only pages have inline scripts and styles that the policy must name. */
  pageHeaders: Record<string, string>;
  fileHeaders: Record<string, string>;
  notFoundPage: StaticFile;
  /** The page of every other error, with an empty paragraph for its message. */
  errorPage: string;
  search: Search;
  /** The page for search results; null when the build has none. */
  searchPage: { html: string; headers: Record<string, string> } | null;
}

/** The URLs from which pages load the banner and search results. */
export interface SiteAddresses {
  banner: string;
  search: string;
}

const parsePolicy = createJsonParser(
  Type.Object({ scripts: Type.Array(Type.String()), styles: Type.Array(Type.String()) }),
);
const parseRecords = createJsonParser(Type.Array(SearchRecord));

/** Reads a built site into memory. Returns null when the folder has none; the API works without one. */
export async function loadSite(folder: string, addresses: SiteAddresses): Promise<Site | null> {
  const found = await readBuiltFiles(folder);
  const policy = found.get('/csp.json')?.toString();
  const errorPage = found.get(ERROR)?.toString();
  if (!found.has(NOT_FOUND) || errorPage === undefined || policy === undefined) return null;

  if (addresses.banner !== BANNER_PATH || addresses.search !== SEARCH_PATH)
    replaceAddresses(found, addresses);
  const files = new Map(
    [...createStaticFiles(found, PRIVATE_FILES)].map(([path, file]) => [pagePath(path), file]),
  );
  const notFoundPage = files.get(pagePath(NOT_FOUND));
  if (!notFoundPage) return null;
  // A request for the path of an error page returns 404 like any unknown path.
  for (const name of [NOT_FOUND, ERROR]) files.delete(pagePath(name));
  const headers = securityHeaders(parsePolicy(policy, 'csp.json'), addresses);
  const html = files.get('/search')?.plain.toString();
  return {
    files,
    notFoundPage,
    errorPage,
    pageHeaders: headers,
    fileHeaders: securityHeaders({ scripts: [], styles: [] }, addresses),
    search: createSearch(parseRecords(found.get(SEARCH_RECORDS)?.toString() ?? '[]', SEARCH_RECORDS)),
    searchPage: html === undefined ? null : { html, headers },
  };
}

/** Returns the functions that send the site's error pages to browsers in place of error bodies. */
export function createErrorPages({ pageHeaders: headers, notFoundPage, errorPage }: Site): ErrorPages {
  return {
    notFound: (request, reply) => sendNotFoundPage(request, reply.headers(headers), notFoundPage),
    error: (reply, message) =>
      reply
        .headers({ ...headers, 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        // A function, because `$` in a replacement string is special.
        .send(errorPage.replace(ERROR_SLOT, (_all, start, end) => `${start}${escapeHtml(message)}${end}`)),
  };
}

/** Registers a route for all files of the site. `publicUrl` may be called only once the server listens. */
export function serveSite(app: FastifyInstance, site: Site, publicUrl: () => string): void {
  // The first request of a file inserts the address, because it is unknown until the server listens.
  const servedFiles = new Map<StaticFile, StaticFile>();
  const withAddress = (path: string, file: StaticFile): StaticFile => {
    if (publicUrl() === BUILD_ADDRESS) return file;
    const cached = servedFiles.get(file);
    if (cached) return cached;
    const text = replaceBuiltAddress(path, file, publicUrl());
    const served = text === undefined ? file : withText(file, text);
    servedFiles.set(file, served);
    return served;
  };
  app.get('/*', async (request, reply) => {
    const [path = '', query] = request.url.split('?', 2);
    const markdown = site.files.get(`${path}.md`);
    const file = markdown && wantsMarkdown(request.headers.accept) ? markdown : site.files.get(path);
    if (file) {
      const served = withAddress(path, file);
      const headers = file.type === FILE_TYPES['.html'] ? site.pageHeaders : site.fileHeaders;
      return sendStaticFile(request, reply.headers(headers), served, markdown ? ['accept'] : []);
    }
    const canonical = path.replace(/(\.html|\/)$/, '');
    if (canonical !== path && site.files.has(canonical))
      return reply.redirect(query === undefined ? canonical : `${canonical}?${query}`, 308);
    return reply.callNotFound();
  });
}

/** Returns true when the Accept header names Markdown and does not prefer HTML. Browsers never name Markdown. */
function wantsMarkdown(accept = ''): boolean {
  const weights = accept.split(',').map((part): [type: string, weight: number] => {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return [type, weight === undefined ? 1 : Number(weight.slice('q='.length))];
  });
  const findWeight = (wanted: string) => weights.find(([type]) => type === wanted)?.[1] ?? 0;
  return findWeight('text/markdown') > 0 && findWeight('text/markdown') >= findWeight('text/html');
}

/** Returns the URL path of a file of the build. */
function pagePath(name: string): string {
  if (name === '/index.html') return '/';
  return name.endsWith('.html') ? name.slice(0, -'.html'.length) : name;
}

/** Replaces the default banner and search URLs, which the build wrote into every page, in place. */
function replaceAddresses(found: Map<string, Buffer>, { banner, search }: SiteAddresses): void {
  for (const [name, content] of found) {
    if (!name.endsWith('.html')) continue;
    const text = content
      .toString()
      .replace(`data-banner="${BANNER_PATH}"`, () => `data-banner="${escapeHtml(banner)}"`)
      .replace(`data-search="${SEARCH_PATH}"`, () => `data-search="${escapeHtml(search)}"`);
    found.set(name, Buffer.from(text));
    if (found.has(`${name}.br`)) found.set(`${name}.br`, brotli(text));
    if (found.has(`${name}.gz`)) found.set(`${name}.gz`, gzipSync(text));
  }
}

/** Returns the text of a file as a server at `publicUrl` serves it; undefined for a file without an address. */
export function replaceBuiltAddress(
  path: string,
  { type, plain }: Pick<StaticFile, 'type' | 'plain'>,
  publicUrl: string,
): string | undefined {
  const rename = (text: string, to = publicUrl): string => text.replaceAll(BUILD_ADDRESS, () => to);
  if (FILES_WITH_ADDRESS.includes(path)) return rename(plain.toString());
  if (type === FILE_TYPES['.html'])
    return plain.toString().replace(ADDRESS_PLACES, (part) => rename(part, escapeHtml(publicUrl)));
  if (type === FILE_TYPES['.md'] || path === FULL_TEXT)
    return replaceAddressInCode(plain.toString(), BUILD_ADDRESS, publicUrl);
  return undefined;
}

/** Returns the file with another text, compressed into the same encodings. */
function withText(file: StaticFile, text: string): StaticFile {
  const { br, gzip } = file.compressed;
  const compressed = { ...(br && { br: brotli(text) }), ...(gzip && { gzip: gzipSync(text) }) };
  return { ...file, plain: Buffer.from(text), compressed };
}

/** Compresses at level 5, which takes about a millisecond per page. */
function brotli(text: string): Buffer {
  return brotliCompressSync(text, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } });
}

function securityHeaders(
  { scripts, styles }: { scripts: string[]; styles: string[] },
  { banner, search }: SiteAddresses,
): Record<string, string> {
  const otherOrigins = [banner, search].flatMap((url) => (URL.canParse(url) ? new URL(url).origin : []));
  const policy = [
    "default-src 'self'",
    ["connect-src 'self'", ...new Set(otherOrigins)].join(' '),
    ["script-src 'self'", ...scripts].join(' '),
    ["style-src 'self'", ...styles].join(' '),
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  };
}
