/**
 * Parses JSON request bodies. An empty body counts as absent, whatever its content type. A lone surrogate is not a
 * character and no database stores it. It becomes U+FFFD here, so that the response shows the stored text.
 */
import { REQUEST_BODY_DEPTH_MAX } from '@switchyard/contract/limits.ts';
import type { FastifyRequest } from 'fastify';
import { badRequest, type Problem } from '../errors/problem.ts';
import { exceedsDepth } from './raw-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as a content type parser of Fastify, and stores its bytes in `request.rawBody`. Calls `done` with a 400 for
 * another content type, invalid UTF-8, too deep nesting and invalid JSON.
 */
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
  const parsed = parsePayload(payload);
  if (parsed.problem) return done(parsed.problem);
  done(null, parsed.value);
}

function parsePayload(payload: Buffer): { value: unknown; problem?: undefined } | { problem: Problem } {
  let text: string;
  try {
    text = utf8.decode(payload);
  } catch {
    return { problem: badRequest('The body of the request is not valid UTF-8; encode it as UTF-8.') };
  }
  if (exceedsDepth(payload, REQUEST_BODY_DEPTH_MAX)) {
    return {
      problem: badRequest(
        `The body of the request is nested more than ${REQUEST_BODY_DEPTH_MAX} levels deep. Send a deeper input through an upload URL.`,
      ),
    };
  }
  try {
    const value: unknown = JSON.parse(text);
    return { value: ESCAPED_SURROGATE.test(text) ? replaceLoneSurrogates(value) : value };
  } catch (error) {
    return {
      problem: badRequest(
        `The body of the request is not valid JSON: ${error instanceof Error ? error.message : ''}`,
      ),
    };
  }
}

/** UTF-8 cannot encode a surrogate, so each one comes as an escape. Most bodies have none and skip the second pass. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Replaces the lone surrogates in every string of the value, in place; returns the value. A loop, because recursion on a
 * body of the maximum depth overflows the stack.
 */
function replaceLoneSurrogates(value: unknown): unknown {
  const root = { value };
  const pending: object[] = [root];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const [key, member] of Object.entries(container)) {
      if (typeof member === 'object' && member !== null) pending.push(member);
      else if (typeof member === 'string' && !member.isWellFormed())
        // An assignment to the key `__proto__` would call its setter and store nothing.
        Object.defineProperty(container, key, { value: member.toWellFormed() });
    }
  }
  return root.value;
}
