/**
 * Serves the built console below `/console` from memory. Each path without a file gets the same page, whose script shows
 * the page of the address. The content of apps is shown in frames of `frame.html`, which has an opaque origin.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  createStaticFiles,
  HASHED_FOLDER,
  readBuiltFiles,
  type StaticFile,
  sendStaticFile,
} from './static-file.ts';

const ROOT = '/console';
const PAGE = '/index.html';
const FRAME = '/frame.html';
const PRIVATE_FILES = ['/input-hash.txt'];

/** Scripts and styles come from the console's own files alone. The address has a one-time ticket, so no page gets it as referrer. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "worker-src 'self' blob:",
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

/**
 * The frame runs scripts of apps: in an opaque origin, without cookies, without the network. The policy names no origin
 * that a script could send something to.
 */
const FRAME_HEADERS = {
  'content-security-policy': [
    'sandbox allow-scripts',
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval'",
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    "frame-ancestors 'self'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** A built console in memory: its files by path below `/console`. */
export type ConsoleFiles = ReadonlyMap<string, StaticFile>;

/** Reads a built console into memory. Returns null when the folder has none; the API works without one. */
export async function loadConsole(folder: string): Promise<ConsoleFiles | null> {
  const files = createStaticFiles(await readBuiltFiles(folder), PRIVATE_FILES);
  return files.has(PAGE) ? files : null;
}

/** Registers the routes of the console, and the addresses of runs that the published clients print. */
export function serveConsole(app: FastifyInstance, files: ConsoleFiles): void {
  const page = files.get(PAGE);
  if (!page) throw new Error(`The console has no ${PAGE}.`);
  const send = (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ''] = request.url.slice(ROOT.length).split('?', 1);
    const file = files.get(path);
    if (file)
      return sendStaticFile(request, reply.headers(path === FRAME ? FRAME_HEADERS : PAGE_HEADERS), file);
    // A missing script is a 404: the page in its place would be a syntax error.
    if (path.startsWith(HASHED_FOLDER)) return reply.callNotFound();
    return sendStaticFile(request, reply.headers(PAGE_HEADERS), page);
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
