/**
 * Serves the built console below `/console` from memory. Each path without a file gets the same page, whose script shows
 * the page of the address. Charts and pages of apps are shown in frames, which have an opaque origin.
 */
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  createStaticFiles,
  HASHED_FOLDER,
  readBuiltFiles,
  type StaticFile,
  sendStaticFile,
} from './static-file.ts';

const ROOT = '/console';
const PAGE = '/index.html';
const CHART_FRAME = '/frame.html';
const PAGE_FRAME = '/page-frame.html';
/** The hashes of the scripts that stand in the page and that a chart may run (console/build/bundle.ts). */
const POLICY = '/csp.json';
const NO_SCRIPTS = `{"page":[],"scripts":["'none'"]}`;
const PRIVATE_FILES = ['/input-hash.txt'];

/**
 * Scripts and styles come from the console's own files alone; `scripts` has the hash of the one in the page. The address has a
 * one-time ticket, so no page gets it as referrer.
 */
function buildPageHeaders(scripts: readonly string[]) {
  return {
    'content-security-policy': [
      "default-src 'self'",
      ["script-src 'self'", ...scripts].join(' '),
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "connect-src 'self'",
      "frame-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  };
}

/**
 * A frame for content of apps: an opaque origin without cookies, whose policy names no origin that could be sent something.
 * The policy does not govern WebRTC, so it keeps no script of an app from sending what it knows.
 */
function buildFrameHeaders(scripts: readonly string[]) {
  return {
    'content-security-policy': [
      'sandbox allow-scripts',
      "default-src 'none'",
      `script-src ${scripts.join(' ')}`,
      "style-src 'unsafe-inline'",
      'img-src data: blob:',
      'font-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'referrer-policy': 'no-referrer',
  };
}

/** A built console in memory: its files by path below `/console`. */
export type ConsoleFiles = ReadonlyMap<string, StaticFile>;

/** Reads a built console into memory. Returns null when the folder has none; the API works without one. */
export async function loadConsole(folder: string): Promise<ConsoleFiles | null> {
  const files = createStaticFiles(await readBuiltFiles(folder), PRIVATE_FILES);
  return files.has(PAGE) ? files : null;
}

const parsePolicy = createJsonParser(
  Type.Object({ page: Type.Array(Type.String()), scripts: Type.Array(Type.String()) }),
);

/** Registers the routes of the console, and the addresses of runs that the published clients print. */
export function serveConsole(app: FastifyInstance, files: ConsoleFiles): void {
  const page = files.get(PAGE);
  if (!page) throw new Error(`The console has no ${PAGE}.`);
  const policy = parsePolicy(files.get(POLICY)?.plain.toString() ?? NO_SCRIPTS, POLICY);
  const pageHeaders = buildPageHeaders(policy.page);
  // Charts run the scripts of the console alone; pages of apps run theirs, after a click.
  const frameHeaders = new Map([
    [CHART_FRAME, buildFrameHeaders(policy.scripts)],
    [PAGE_FRAME, buildFrameHeaders(["'unsafe-inline'", "'unsafe-eval'"])],
  ]);
  const send = (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ''] = request.url.slice(ROOT.length).split('?', 1);
    const file = files.get(path);
    if (file) return sendStaticFile(request, reply.headers(frameHeaders.get(path) ?? pageHeaders), file);
    // A missing script is a 404: the page in its place would be a syntax error.
    if (path.startsWith(HASHED_FOLDER)) return reply.callNotFound();
    return sendStaticFile(request, reply.headers(pageHeaders), page);
  };
  app.get(ROOT, send);
  app.get(`${ROOT}/*`, send);
  app.get<{ Params: { application: string; run: string } }>(
    '/app/:application/run/:run',
    (request, reply) => {
      const { application, run } = request.params;
      return reply.redirect(
        `${ROOT}/apps/${encodeURIComponent(application)}/runs/${encodeURIComponent(run)}`,
        302,
      );
    },
  );
}
