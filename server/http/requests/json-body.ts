/**
 * Reads JSON bodies: valid UTF-8, valid JSON; an empty body is no body, whatever its content type says. Half a surrogate
 * pair is not a character and no database keeps it; it becomes U+FFFD here, so that what is answered is what is kept.
 */
import { REQUEST_BODY_DEPTH_MAX } from '@switchyard/contract/limits.ts';
import type { FastifyRequest } from 'fastify';
import { badRequest, type Problem } from '../errors/problem.ts';
import { exceedsDepth } from './raw-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A content type parser for Fastify: keeps the bytes, parses the JSON. */
export function parseJsonBody(
  request: FastifyRequest,
  payload: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  request.rawBody = payload;
  if (payload.length === 0) return done(null, undefined);
  const contentType = request.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(contentType)) {
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
  if (exceedsDepth(payload, REQUEST_BODY_DEPTH_MAX)) {
    return {
      problem: badRequest(
        `The body of the request is nested more than ${REQUEST_BODY_DEPTH_MAX} levels deep. Deeper inputs go through an upload URL.`,
      ),
    };
  }
  try {
    const value = JSON.parse(text) as unknown;
    return { value: HALF_PAIR_ESCAPED.test(text) ? wellFormed(value) : value };
  } catch (error) {
    return {
      problem: badRequest(
        `The body of the request is not valid JSON: ${error instanceof Error ? error.message : ''}`,
      ),
    };
  }
}

/** Surrogates can only come as escapes: UTF-8 has none. Most texts have no such escape and need no second look. */
const HALF_PAIR_ESCAPED = /\\u[dD][89a-fA-F]/;

/** The value with every text made well-formed, changed in place. A loop, because a body may be nested very deep. */
function wellFormed(value: unknown): unknown {
  const root = { value };
  const open: object[] = [root];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [key, one] of Object.entries(container)) {
      if (typeof one === 'object' && one !== null) open.push(one);
      else if (typeof one === 'string' && !one.isWellFormed())
        Object.defineProperty(container, key, { value: one.toWellFormed() });
    }
  }
  return root.value;
}
