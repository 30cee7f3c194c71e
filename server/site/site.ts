/**
 * The documentation site as it was built, in memory: a new build in the same folder changes nothing until the next start,
 * so a page never meets the content security policy of another build. Addresses have no ending: `/docs/a/b` is
 * `docs/a/b.html`. A file goes out compressed when the build left a compressed copy beside it and the caller can read it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { BANNER_PATH } from '@switchyard/contract/site/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/site/search.ts';
import { BUILD_ADDRESS, replaceAddressInCode } from '@switchyard/contract/site/site-address.ts';
import type { FastifyInstance } from 'fastify';
import type { ErrorPages } from '../http/error-responses.ts';
import { escapeHtml } from '../search/escape-html.ts';
import { createSearch, type Search } from '../search/search-index.ts';
import {
  ENCODINGS,
  type Encoding,
  type StaticFile,
  sendNotFoundPage,
  sendStaticFile,
} from './static-file.ts';

/** Files below it have a hash in their name and never change. */
const ASSETS = '/assets/';
const SEARCH_RECORDS = '/search.json';
const PRIVATE_FILES = ['/csp.json', '/input-hash.txt', SEARCH_RECORDS];
/** What must name whole addresses, which only the running server knows. */
const WITH_ADDRESS = ['/sitemap.xml', '/robots.txt', '/releases.atom', '/llms.txt'];
const WHOLE_TEXT = '/llms-full.txt';
const NOT_FOUND = '/404.html';
const ERROR = '/error.html';
/** The empty paragraph of the error page that takes the sentence. */
const ERROR_SLOT = /(<p data-error="">)(<\/p>)/;
/** Where a page names the server: its body for scripts, and its code for readers. */
const NAMES_SERVER = /<body [^>]*>|<pre[ >].*?<\/pre>/gs;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.atom': 'application/atom+xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Endings of compressed copies. */
const ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

export interface Site {
  /** By address, without the ending of pages. */
  files: ReadonlyMap<string, StaticFile>;
  /** Headers of every page, and of every other file: only pages hold scripts and styles that a policy must name. */
  pageHeaders: Record<string, string>;
  fileHeaders: Record<string, string>;
  notFoundPage: StaticFile;
  /** The page of every other error, with an empty paragraph for its sentence. */
  errorPage: string;
  search: Search;
  /** The page that results are put into. */
  searchPage: { html: string; headers: Record<string, string> } | null;
}

/** Where the pages ask for what they show beside their text. */
export interface SiteAddresses {
  banner: string;
  search: string;
}

/** null when the folder holds no built site: the API works without one. */
export async function loadSite(folder: string, addresses: SiteAddresses): Promise<Site | null> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const found = new Map<string, Buffer>();
  for (const entry of names.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    found.set(path.slice(folder.length).replaceAll(sep, '/'), await readFile(path));
  }
  const policy = found.get('/csp.json')?.toString();
  const errorPage = found.get(ERROR)?.toString();
  if (!found.has(NOT_FOUND) || errorPage === undefined || policy === undefined) return null;

  if (addresses.banner !== BANNER_PATH || addresses.search !== SEARCH_PATH) nameAddresses(found, addresses);
  const files = new Map<string, StaticFile>();
  for (const [name, plain] of found) {
    const ending = extname(name);
    if (PRIVATE_FILES.includes(name) || Object.values(ENDINGS).includes(ending)) continue;
    const compressed: StaticFile['compressed'] = {};
    for (const encoding of ENCODINGS) {
      const copy = found.get(`${name}${ENDINGS[encoding]}`);
      if (copy) compressed[encoding] = copy;
    }
    files.set(addressOf(name), {
      type: TYPES[ending] ?? 'application/octet-stream',
      cacheControl: name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
      plain,
      compressed,
    });
  }
  const notFoundPage = files.get(addressOf(NOT_FOUND));
  if (!notFoundPage) return null;
  // Asked for by their own addresses they are missing like any other.
  for (const name of [NOT_FOUND, ERROR]) files.delete(addressOf(name));
  const headers = securityHeaders(JSON.parse(policy), addresses);
  const html = files.get('/search')?.plain.toString();
  return {
    files,
    notFoundPage,
    errorPage,
    pageHeaders: headers,
    fileHeaders: securityHeaders({ scripts: [], styles: [] }, addresses),
    search: createSearch(JSON.parse(found.get(SEARCH_RECORDS)?.toString() ?? '[]')),
    searchPage: html === undefined ? null : { html, headers },
  };
}

/** The pages that people get in place of error bodies. */
export function createErrorPages({ pageHeaders: headers, notFoundPage, errorPage }: Site): ErrorPages {
  return {
    notFound: (request, reply) => sendNotFoundPage(request, reply.headers(headers), notFoundPage),
    error: (reply, sentence) =>
      reply
        .headers({ ...headers, 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        // A function, because a replacement text would take $ for a sign of its own.
        .send(errorPage.replace(ERROR_SLOT, (_all, start, end) => `${start}${escapeHtml(sentence)}${end}`)),
  };
}

/** `publicUrl` is known once the server listens. */
export function serveSite(app: FastifyInstance, site: Site, publicUrl: () => string): void {
  // Each file gets the address when it is first requested: before the server listens the address is not known.
  const asServed = new Map<StaticFile, StaticFile>();
  const withAddress = (path: string, file: StaticFile): StaticFile => {
    if (publicUrl() === BUILD_ADDRESS) return file;
    const known = asServed.get(file);
    if (known) return known;
    const text = replaceBuiltAddress(path, file, publicUrl());
    const served = text === undefined ? file : withText(file, text);
    asServed.set(file, served);
    return served;
  };
  app.get('/*', async (request, reply) => {
    const [path = '', query] = request.url.split('?', 2);
    const text = site.files.get(`${path}.md`);
    const file = text && wantsMarkdown(request.headers.accept) ? text : site.files.get(path);
    if (file) {
      const shown = withAddress(path, file);
      const headers = file.type === TYPES['.html'] ? site.pageHeaders : site.fileHeaders;
      return sendStaticFile(request, reply.headers(headers), shown, text ? ['accept'] : []);
    }
    const proper = path.replace(/(\.html|\/)$/, '');
    if (proper !== path && site.files.has(proper))
      return reply.redirect(query === undefined ? proper : `${proper}?${query}`, 308);
    return reply.callNotFound();
  });
}

/** Whether a caller names Markdown, and no page of HTML that it would rather have. Browsers never name it. */
function wantsMarkdown(accept = ''): boolean {
  const weights = accept.split(',').map((part): [type: string, weight: number] => {
    const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const weight = parameters.find((one) => one.startsWith('q='));
    return [type, weight === undefined ? 1 : Number(weight.slice('q='.length))];
  });
  const weightOf = (wanted: string) => weights.find(([type]) => type === wanted)?.[1] ?? 0;
  return weightOf('text/markdown') > 0 && weightOf('text/markdown') >= weightOf('text/html');
}

function addressOf(name: string): string {
  if (name === '/index.html') return '/';
  return name.endsWith('.html') ? name.slice(0, -'.html'.length) : name;
}

/** The pages were built with the server's own addresses; where others are set, every page names those. */
function nameAddresses(found: Map<string, Buffer>, { banner, search }: SiteAddresses): void {
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

/** Returns the text of a file as a server at `publicUrl` serves it; undefined for a file that names no server. */
export function replaceBuiltAddress(
  path: string,
  { type, plain }: Pick<StaticFile, 'type' | 'plain'>,
  publicUrl: string,
): string | undefined {
  const rename = (text: string, to = publicUrl): string => text.replaceAll(BUILD_ADDRESS, () => to);
  if (WITH_ADDRESS.includes(path)) return rename(plain.toString());
  if (type === TYPES['.html'])
    return plain.toString().replace(NAMES_SERVER, (part) => rename(part, escapeHtml(publicUrl)));
  if (type === TYPES['.md'] || path === WHOLE_TEXT)
    return replaceAddressInCode(plain.toString(), BUILD_ADDRESS, publicUrl);
  return undefined;
}

/** The same content with as many compressed copies, made at a level that takes a millisecond a page. */
function withText(file: StaticFile, text: string): StaticFile {
  const { br, gzip } = file.compressed;
  const compressed = { ...(br && { br: brotli(text) }), ...(gzip && { gzip: gzipSync(text) }) };
  return { ...file, plain: Buffer.from(text), compressed };
}

function brotli(text: string): Buffer {
  return brotliCompressSync(text, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } });
}

function securityHeaders(
  { scripts, styles }: { scripts: string[]; styles: string[] },
  { banner, search }: SiteAddresses,
): Record<string, string> {
  const elsewhere = [banner, search].flatMap((one) => (URL.canParse(one) ? new URL(one).origin : []));
  const policy = [
    "default-src 'self'",
    ["connect-src 'self'", ...new Set(elsewhere)].join(' '),
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
