/** Answers whose bytes are known when the server starts: in memory, compressed for who can read it, tagged by content. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The better one first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface StaticFile {
  type: string;
  cacheControl: string;
  plain: Buffer;
  /** The same, compressed, as far as there are such copies. */
  compressed: Partial<Record<Encoding, Buffer>>;
}

/**
 * Answers with the file, or with 304 when the caller has it. `chosenBy` names headers of the request by which this file
 * was chosen among others.
 */
export function sendStaticFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
  chosenBy: readonly string[] = [],
): FastifyReply {
  const { encoding, content } = bestOf(request, file);
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  reply.header('vary', [...chosenBy, 'accept-encoding'].join(', '));
  reply.header('cache-control', file.cacheControl).header('etag', tag);
  // By the comma alone: a pattern with the space around it takes the square of the time for a header full of space.
  const known = request.headers['if-none-match']?.split(',').map((one) => one.trim()) ?? [];
  if (known.some((one) => one === '*' || one.replace(/^W\//, '') === tag)) return reply.code(304).send();
  return sendAs(reply, file, encoding, content);
}

/** Answers with the file in place of one that does not exist; nobody is told to keep it. */
export function sendNotFoundPage(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): FastifyReply {
  const { encoding, content } = bestOf(request, file);
  reply.code(404).header('cache-control', 'no-cache').header('vary', 'accept-encoding');
  return sendAs(reply, file, encoding, content);
}

/** The content in the best encoding the caller takes. */
function bestOf(request: FastifyRequest, file: StaticFile): { encoding?: Encoding; content: Buffer } {
  const accepted = request.headers['accept-encoding'] ?? '';
  const encoding = ENCODINGS.find((one) => file.compressed[one] && accepts(accepted, one));
  const content = encoding && file.compressed[encoding];
  return content ? { encoding, content } : { content: file.plain };
}

function sendAs(
  reply: FastifyReply,
  file: StaticFile,
  encoding: Encoding | undefined,
  content: Buffer,
): FastifyReply {
  if (encoding) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(content);
}

/** Whether the caller takes the encoding: it is named, and not with a weight of 0. */
function accepts(header: string, encoding: Encoding): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    return name === encoding && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}
