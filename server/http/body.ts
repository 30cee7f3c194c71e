/** Reads JSON bodies: valid UTF-8, valid JSON; an empty body is no body, whatever its content type says. */
import type { FastifyRequest } from 'fastify';
import { badRequest, type Problem } from './problem.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A content type parser for Fastify: keeps the bytes, parses the JSON. */
export function readJson(
  request: FastifyRequest,
  payload: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  request.rawBody = payload;
  if (payload.length === 0) return done(null, undefined);
  const contentType = request.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType)) {
    return done(
      badRequest(
        `The content type of the request is "${contentType.slice(0, 80)}"; it must be application/json.`,
      ),
    );
  }
  const parsed = parse(payload);
  if (parsed.problem) return done(parsed.problem);
  done(null, parsed.value);
}

function parse(payload: Buffer): { value: unknown; problem?: undefined } | { problem: Problem } {
  let text: string;
  try {
    text = utf8.decode(payload);
  } catch {
    return { problem: badRequest('The body of the request is not valid UTF-8.') };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return {
      problem: badRequest(
        `The body of the request is not valid JSON: ${error instanceof Error ? error.message : ''}`,
      ),
    };
  }
}

/** Fastify says null for "no body" where JSON null is a body; both are no object. */
export function bodyOf(body: unknown): unknown {
  return body === null ? undefined : body;
}
