/**
 * The documentation site, as it was built: files, served as they are. Addresses have no ending; `/docs/a/b` is
 * `docs/a/b.html`. Pages carry a content security policy that lets in only the scripts and styles the build wrote.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Files below it have a hash in their name and never change. */
const ASSETS = `${join('/', 'assets')}/`;
const PRIVATE_FILES = ['/csp.json', '/input-hash.txt'];

export interface Site {
  folder: string;
  /** Headers of every page. */
  headers: Record<string, string>;
  notFoundPage: string;
}

/** null when the folder holds no built site: the API works without one. */
export async function loadSite(folder: string): Promise<Site | null> {
  const notFoundPage = await readFile(join(folder, '404.html'), 'utf8').catch(() => null);
  if (notFoundPage === null) return null;
  const hashes = JSON.parse(await readFile(join(folder, 'csp.json'), 'utf8')) as {
    scripts: string[];
    styles: string[];
  };
  return { folder, notFoundPage, headers: securityHeaders(hashes) };
}

export async function serveSite(app: FastifyInstance, site: Site): Promise<void> {
  await app.register(fastifyStatic, {
    root: site.folder,
    prefix: '/',
    extensions: ['html'],
    preCompressed: true,
    cacheControl: false,
    allowedPath: (path) => !PRIVATE_FILES.includes(path),
    setHeaders(reply, path) {
      for (const [name, value] of Object.entries(site.headers)) reply.header(name, value);
      const forever = path.startsWith(join(site.folder, ASSETS));
      reply.header('cache-control', forever ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
}

function securityHeaders({
  scripts,
  styles,
}: {
  scripts: string[];
  styles: string[];
}): Record<string, string> {
  const policy = [
    "default-src 'self'",
    `script-src 'self' ${scripts.join(' ')}`,
    `style-src 'self' ${styles.join(' ')}`,
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
