/** Sends files from memory, in the best encoding that the client accepts, with an ETag of their content. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Files in this folder of a build have a hash in their name, so clients may cache them forever. */
export const HASHED_FOLDER = '/assets/';

/** Encodings of compressed copies, the smaller result first. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** File endings of compressed copies. */
const COMPRESSED_ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

/** The files of a build by path, which begins with `/`. */
export type BuiltFiles = Map<string, Buffer>;

/** Reads all files of a folder into memory; empty for a folder that does not exist. */
export async function readBuiltFiles(folder: string): Promise<BuiltFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const found: BuiltFiles = new Map();
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    found.set(path.slice(folder.length).replaceAll(sep, '/'), await readFile(path));
  }
  return found;
}

/** Returns the files of a build with their types and compressed copies, without the files in `privatePaths`. */
export function createStaticFiles(
  found: BuiltFiles,
  privatePaths: readonly string[],
): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const [path, plain] of found) {
    const ending = extname(path);
    if (privatePaths.includes(path) || Object.values(COMPRESSED_ENDINGS).includes(ending)) continue;
    const compressed: StaticFile['compressed'] = {};
    for (const encoding of ENCODINGS) {
      const copy = found.get(`${path}${COMPRESSED_ENDINGS[encoding]}`);
      if (copy) compressed[encoding] = copy;
    }
    files.set(path, {
      type: FILE_TYPES[ending] ?? 'application/octet-stream',
      cacheControl: path.startsWith(HASHED_FOLDER) ? 'public, max-age=31536000, immutable' : 'no-cache',
      plain,
      compressed,
    });
  }
  return files;
}

/** Content types by the ending of the file name. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
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

/** A file in memory with its headers. */
export interface StaticFile {
  type: string;
  cacheControl: string;
  plain: Buffer;
  /** Compressed copies; an encoding without a copy is absent. */
  compressed: Partial<Record<Encoding, Buffer>>;
}

/**
 * Responds with the file, or with 304 when the client has it. `chosenBy` names the request headers that selected this file
 * among several; they go into the Vary header.
 */
export function sendStaticFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
  chosenBy: readonly string[] = [],
): FastifyReply {
  const { encoding, content } = chooseEncoding(request, file);
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  reply.header('vary', [...chosenBy, 'accept-encoding'].join(', '));
  reply.header('cache-control', file.cacheControl).header('etag', tag);
  // Splits at the comma alone: a pattern with the surrounding space takes quadratic time on a header full of spaces.
  const known = request.headers['if-none-match']?.split(',').map((candidate) => candidate.trim()) ?? [];
  if (known.some((candidate) => candidate === '*' || candidate.replace(/^W\//, '') === tag))
    return reply.code(304).send();
  return sendContent(reply, file, encoding, content);
}

/** Responds with 404 and the file as its page. Clients must not cache it. */
export function sendNotFoundPage(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): FastifyReply {
  const { encoding, content } = chooseEncoding(request, file);
  reply.code(404).header('cache-control', 'no-cache').header('vary', 'accept-encoding');
  return sendContent(reply, file, encoding, content);
}

/** Returns the content in the best encoding that the client accepts. */
function chooseEncoding(request: FastifyRequest, file: StaticFile): { encoding?: Encoding; content: Buffer } {
  const accepted = request.headers['accept-encoding'] ?? '';
  const encoding = ENCODINGS.find(
    (candidate) => file.compressed[candidate] && acceptsEncoding(accepted, candidate),
  );
  const content = encoding && file.compressed[encoding];
  return content ? { encoding, content } : { content: file.plain };
}

function sendContent(
  reply: FastifyReply,
  file: StaticFile,
  encoding: Encoding | undefined,
  content: Buffer,
): FastifyReply {
  if (encoding) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(content);
}

/** Returns true when the Accept-Encoding header names the encoding without a weight of 0. */
function acceptsEncoding(header: string, encoding: Encoding): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
